"""The tables of `docs/theory.md` and the entries of `docs/errata.md`, read."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

KINDS = "Definition|Proposition|Lemma|Theorem|Corollary|Assumption|Table|Figure|Equation|Experiment|Fact"
NUMBER = r"\(?(?:[A-Z]\.)?\d+(?:\.\d+)*\)?"


@dataclass(frozen=True)
class Mention:
    """A symbol, a test or a claim that the documentation names, and whether it is only planned."""

    kind: str
    name: str
    planned: bool


@dataclass(frozen=True)
class Row:
    paper: str
    place: str
    says: str
    mentions: tuple[Mention, ...]

    @property
    def items(self) -> set[tuple[str, str]]:
        """The numbered items of the paper that this row stands for: "Equations (18)–(20)" are three."""
        return set(numbered(self.place))


def numbered(place: str) -> Iterator[tuple[str, str]]:
    list_of_numbers = rf"{NUMBER}(?:(?:–|, | and ){NUMBER})*"
    for kind, numbers in re.findall(rf"\b({KINDS})s? ({list_of_numbers})", place):
        for part in re.split(", | and ", numbers):
            first, _, last = (end.strip("()") for end in part.partition("–"))
            if not last:
                yield kind, first
                continue
            head, _, start = first.rpartition(".")
            for i in range(int(start), int(last.rpartition(".")[2]) + 1):
                yield kind, f"{head}.{i}" if head else str(i)


def mentions(kind: str, cell: str) -> Iterator[Mention]:
    """`a`, planned: `b` and the like; a dash is nothing."""
    for part in (p.strip() for p in cell.split(",")):
        if part in ("", "–"):
            continue
        planned = part.startswith("planned: ")
        yield Mention(kind, part.removeprefix("planned: ").strip("`"), planned)


def sections(text: str) -> Iterator[tuple[str, str]]:
    """The level-two headings, each with the text below it."""
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    yield from zip(parts[1::2], parts[2::2], strict=True)


def theory() -> list[Row]:
    """The rows of `docs/theory.md`. A heading is a letter and what it stands for: "N: Neural Path …"."""
    rows = []
    for heading, body in sections((DOCS / "theory.md").read_text()):
        paper = heading.split(":")[0]
        for line in body.splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if (
                not line.startswith("|")
                or len(cells) != 5
                or set(cells[0]) <= set("-: ")
                or cells[0] == "Place"
            ):
                continue
            place, says, functions, tests, claims = cells
            named = (*mentions("symbol", functions), *mentions("test", tests), *mentions("claim", claims))
            rows.append(Row(paper, place, says, named))
    return rows


@dataclass(frozen=True)
class Erratum:
    paper: str
    place: str
    fields: dict[str, str]

    @property
    def mentions(self) -> tuple[Mention, ...]:
        """Claims and tests named under "Known by": `claim N27`, `planned: D2`, a test in backticks."""
        known = self.fields.get("Known by", "")
        found = [Mention("claim", name, True) for name in re.findall(r"planned: ([NDRLB]\d+)", known)]
        found += [Mention("claim", name, False) for name in re.findall(r"claim ([NDRLB]\d+)", known)]
        found += [Mention("test", name, False) for name in re.findall(r"`([\w/]+\.py(?:::\w+)?)`", known)]
        return tuple(found)


def errata() -> list[Erratum]:
    entries = []
    for heading, body in sections((DOCS / "errata.md").read_text()):
        parts = re.split(r"^### (.+)$", body, flags=re.MULTILINE)
        for place, text in zip(parts[1::2], parts[2::2], strict=True):
            fields = dict(
                re.findall(r"^- \*\*(.+?)\.\*\* (.+?)(?=^- \*\*|\Z)", text, flags=re.MULTILINE | re.DOTALL)
            )
            entries.append(
                Erratum(heading.split(":")[0], place, {k: " ".join(v.split()) for k, v in fields.items()})
            )
    return entries
