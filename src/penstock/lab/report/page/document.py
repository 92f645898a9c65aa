"""A page: its blocks in one file of HTML, with style, scripts and pictures inside and nothing to fetch."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

import penstock
from penstock.files import make_folder, write_file
from penstock.lab.report.page.blocks import Block
from penstock.lab.report.page.markup import Markup, join, tag

__all__ = ["Page", "asset"]

# No request leaves the page, whatever is put into it later.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def asset(room: str, name: str) -> Markup:
    """A style or a script that lies in the folder `assets` of a room of `lab.report`."""
    return Markup(files(f"penstock.lab.report.{room}").joinpath("assets", name).read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Page:
    title: str
    lead: Sequence[str]
    blocks: Sequence[Block]
    styles: Sequence[Markup] = ()
    scripts: Sequence[Markup] = ()
    footer: Sequence[str] = field(default=())

    def html(self) -> str:
        head = tag(
            "head",
            tag("meta", charset="utf-8"),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
            tag("meta", name="color-scheme", content="light dark"),
            tag("meta", name="generator", content=f"Penstock {penstock.__version__}"),
            tag("title", self.title),
            tag("style", join([asset("page", "page.css"), *self.styles], "\n")),
        )
        top = tag(
            "header",
            tag("p", "Penstock", class_="brand"),
            tag("h1", self.title),
            tag("p", *self.lead, class_="lead"),
        )
        body = tag(
            "body",
            top,
            tag("main", *(block.html() for block in self.blocks)),
            tag("footer", tag("p", *self.footer)),
            *(tag("script", script) for script in self.scripts),
        )
        return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"

    def write(self, folder: Path) -> Path:
        """`index.html` in `folder`: the whole page, or none."""
        make_folder(folder)
        path = folder / "index.html"
        write_file(path, self.html().encode())
        return path
