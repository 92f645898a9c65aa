"""What a page is built from. Each block writes itself as HTML; whatever has an `html` method is a block."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from penstock.lab.report.page.markup import Markup, join, number, tag

__all__ = [
    "Block",
    "Code",
    "Drawing",
    "Equation",
    "Formula",
    "Matrix",
    "Note",
    "Prose",
    "Row",
    "Section",
    "Sheet",
]


@runtime_checkable
class Block(Protocol):
    def html(self) -> Markup: ...


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it."""

    name: str
    title: str
    blocks: Sequence[Block]

    def html(self) -> Markup:
        heading = tag("h2", self.title, id=f"{self.name}-title")
        return tag(
            "section",
            heading,
            *(block.html() for block in self.blocks),
            id=self.name,
            aria_labelledby=f"{self.name}-title",
        )


@dataclass(frozen=True)
class Row:
    """Blocks side by side where there is room, one below the other where there is not."""

    blocks: Sequence[Block]

    def html(self) -> Markup:
        return tag("div", *(block.html() for block in self.blocks), class_="row")


@dataclass(frozen=True)
class Prose:
    """A paragraph. Text is escaped; `Markup` within it is kept."""

    parts: Sequence[str]

    def html(self) -> Markup:
        return tag("p", *self.parts, class_="prose")


@dataclass(frozen=True)
class Note:
    """A line beside the matter: a source, a check, a caveat."""

    parts: Sequence[str]

    def html(self) -> Markup:
        return tag("p", *self.parts, class_="note")


@dataclass(frozen=True)
class Formula:
    """A formula in a line of its own; `spoken` is how it is read aloud."""

    written: str
    spoken: str

    def html(self) -> Markup:
        return tag("p", tag("span", self.written, role="img", aria_label=self.spoken), class_="formula")


@dataclass(frozen=True)
class Matrix:
    """A table of numbers with its rows and columns named; `shaded` tints each entry by its size."""

    name: str
    rows: Sequence[Sequence[float]]
    heads: Sequence[str]
    side: Sequence[str]
    caption: str = ""
    shaded: bool = True
    digits: int = 4

    def html(self) -> Markup:
        largest = max((abs(value) for row in self.rows for value in row), default=0.0) or 1.0
        head = tag("tr", tag("td"), *(tag("th", text, scope="col") for text in self.heads))
        body = [
            tag("tr", tag("th", side, scope="row"), *(self._entry(value, largest) for value in row))
            for side, row in zip(self.side, self.rows, strict=True)
        ]
        caption = tag("caption", self.name, *([tag("small", self.caption)] if self.caption else []))
        return tag("table", caption, tag("thead", head), tag("tbody", *body), class_="matrix")

    def _entry(self, value: float, largest: float) -> Markup:
        shade = f"--shade:{abs(value) / largest:.2f}" if self.shaded else None
        return tag("td", number(value, self.digits), class_="negative" if value < 0 else None, style=shade)


@dataclass(frozen=True)
class Equation:
    """Matrices and the signs between them, side by side where there is room."""

    parts: Sequence[Matrix | str]
    spoken: str

    def html(self) -> Markup:
        written = (
            part.html() if isinstance(part, Matrix) else tag("span", part, class_="sign", aria_hidden="true")
            for part in self.parts
        )
        return tag("div", *written, class_="equation", role="group", aria_label=self.spoken)


@dataclass(frozen=True)
class Drawing:
    """A figure. The drawing says in `spoken` what it shows to who cannot see it."""

    svg: Markup
    caption: Sequence[str]
    wide: bool = False

    def html(self) -> Markup:
        return tag("figure", self.svg, tag("figcaption", *self.caption), class_="wide" if self.wide else None)


@dataclass(frozen=True)
class Sheet:
    """A picture drawn black on white, which stays so at night; on a phone it is moved sideways rather than
    shrunk."""

    svg: bytes
    caption: Sequence[str]
    spoken: str

    def html(self) -> Markup:
        source = "data:image/svg+xml;base64," + base64.b64encode(self.svg).decode()
        image = tag("img", src=source, alt=self.spoken)
        frame = tag("div", image, class_="sheet scroll", tabindex=0, role="region", aria_label=self.spoken)
        return tag("figure", frame, tag("figcaption", *self.caption))


@dataclass(frozen=True)
class Code:
    """Lines of Python, as they were run."""

    lines: Sequence[str]

    def html(self) -> Markup:
        return tag("pre", tag("code", join(self.lines, "\n")), tabindex=0)
