"""The tour's first part: choose an input, see its open gates, its sub-network and its paths (N Figure 1,
Proposition 2.1)."""

from dataclasses import dataclass

from penstock.lab.report.page.blocks import Block, Note, Prose, Section
from penstock.lab.report.page.markup import Markup, agreement, number, tag
from penstock.lab.report.tour.network import draw_network, trace
from penstock.lab.report.tour.opened import Opened

__all__ = ["Explorer", "tell_paths"]

M = Markup


@dataclass(frozen=True)
class Explorer:
    """One panel an input, of which the chosen one is shown."""

    opened: Opened

    def html(self) -> Markup:
        examples = range(len(self.opened.x))
        legend = tag("legend", "The input")
        choices = tag("fieldset", legend, *(self._choice(example) for example in examples), class_="choices")
        return tag("div", choices, *(self._panel(example) for example in examples), class_="explorer")

    def _choice(self, example: int) -> Markup:
        name = f"input-{example + 1}"
        button = tag("input", type="radio", name="input", id=name, value=example + 1, checked=example == 0)
        point = ", ".join(number(value) for value in self.opened.x[example].tolist())
        return tag("span", button, tag("label", _named(example), f" = ({point})", for_=name))

    def _panel(self, example: int) -> Markup:
        open_paths = int((self.opened.features[example] != 0).sum())
        caption = tag(
            "figcaption",
            f"Open gates carry a 1. {open_paths} of {len(self.opened.paths)} paths are open, drawn "
            f"with their weights. ",
            "Point at a path in the list, or press it, to follow it.",
        )
        figure = tag("figure", draw_network(self.opened, example), caption)
        return tag("div", figure, self._table(example), class_="panel", data_input=example + 1)

    def _table(self, example: int) -> Markup:
        heads = ("path", "way", M("<i>φ</i>"), M("<i>v</i>"), M("<i>φ</i> · <i>v</i>"))
        head = tag("tr", *(tag("th", text, scope="col") for text in heads))
        rows = [self._row(example, path) for path in range(len(self.opened.paths))]
        return tag(
            "div",
            tag("table", tag("thead", head), tag("tbody", *rows), self._sum(example), class_="paths"),
            class_="scroll",
            tabindex=0,
            role="region",
            aria_label=f"The paths of input {example + 1}",
        )

    def _row(self, example: int, path: int) -> Markup:
        opened = self.opened
        first, *hidden, _ = opened.paths[path]
        feature, value = opened.features[example, path].item(), opened.values[path].item()
        name = tag(
            "button",
            M("<i>p</i>"),
            tag("sub", str(path + 1)),
            type="button",
            data_points=trace(opened.paths[path]),
            aria_pressed="false",
        )
        way = f"x({first + 1}) → " + " → ".join(str(unit + 1) for unit in hidden) + " → ŷ"
        cells = [name, way, number(feature), number(value), number(feature * value) if feature else ""]
        return tag("tr", *(tag("td", cell) for cell in cells), class_="open" if feature else None)

    def _sum(self, example: int) -> Markup:
        opened = self.opened
        by_paths = (opened.features[example] @ opened.values).item()
        total = tag(
            "tr", tag("th", M("⟨<i>φ</i>, <i>v</i>⟩"), colspan=4, scope="row"), tag("td", number(by_paths))
        )
        forward = tag(
            "tr",
            tag("th", "the network itself", colspan=4, scope="row"),
            tag("td", number(opened.output[example].item())),
        )
        return tag("tfoot", total, forward)


def _named(example: int) -> Markup:
    return M(f"<i>x</i><sub>{example + 1}</sub>")


def tell_paths(opened: Opened) -> Section:
    apart = (opened.features @ opened.values - opened.output).abs().max().item()
    blocks: list[Block] = [
        Prose(
            [
                "Each gate multiplies by 1 or by 0, and which it is depends on the input. A path is "
                "one way from an input node to the "
                "output. Its ",
                M("<b>feature</b> <i>φ</i>"),
                " is the input it starts from where all its gates are open, and 0 where one is shut; its ",
                M("<b>value</b> <i>v</i>"),
                " is the product of its weights. The output is their inner product.",
            ]
        ),
        Explorer(opened),
        Note(
            [
                M("<i>ŷ</i> = ⟨<i>φ</i>, <i>v</i>⟩ is Proposition 2.1 of the paper. "),
                f"Over the three inputs, sum over paths and forward pass {agreement(apart)}.",
            ]
        ),
    ]
    return Section("paths", "The gates of an input, and the paths they leave", blocks)
