"""The fenced blocks of a Markdown page, in order, and how what they print is compared with what is shown."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from docs.tables import DOCS, ROOT

NOT_RUN = re.compile(r"<!-- not run: (.+?) -->")
FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    page: Path
    line: int
    language: str
    code: str
    shown: str | None = None
    """What the page says that it prints."""
    not_run: str | None = None
    """Why it is not run."""

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[Path]:
    """Every page that a reader may copy code from."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of a page. A `text` block right below a `python` block is what that prints."""
    text = page.read_text()
    found = list(FENCE.finditer(text))
    for i, match in enumerate(found):
        language, code = match.groups()
        line = text.count("\n", 0, match.start()) + 2
        before = text[: match.start()].rstrip().rsplit("\n", 1)[-1]
        reason = NOT_RUN.fullmatch(before)
        shown = None
        if language == "python" and i + 1 < len(found):
            follows = found[i + 1]
            if follows[1] == "text" and not text[match.end() : follows.start()].strip():
                shown = follows[2]
        yield Block(page, line, language, code, shown, reason[1] if reason else None)


@dataclass(frozen=True)
class Command:
    """A line of a `console` block that starts with `$ `, and the lines shown below it."""

    place: str
    line: str
    shown: str


def commands(block: Block) -> Iterator[Command]:
    parts = re.split(r"^\$ (.+)$", block.code, flags=re.MULTILINE)
    for line, shown in zip(parts[1::2], parts[2::2], strict=True):
        yield Command(block.place, line.strip(), shown.strip("\n"))


def agrees(printed: str, shown: str) -> bool:
    """Whether what was printed is what is shown; `...` stands for anything, also for several lines."""

    def tidy(text: str) -> str:
        return "\n".join(line.rstrip() for line in text.strip().splitlines())

    parts = [re.escape(part) for part in tidy(shown).split("...")]
    return re.fullmatch(".*?".join(parts), tidy(printed), flags=re.DOTALL) is not None
