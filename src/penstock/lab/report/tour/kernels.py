"""The tour's middle part: what two inputs share, and the tangent kernel that it makes (N Lemma 2.1,
Proposition 3.1)."""

from collections.abc import Sequence

from torch import Tensor

from penstock.lab.report.page.blocks import Drawing, Equation, Formula, Matrix, Note, Prose, Row, Section
from penstock.lab.report.page.markup import Markup, agreement, number, tag
from penstock.lab.report.tour.opened import Opened

__all__ = ["tell_sharing", "tell_tangent"]

M = Markup
VTK = M('<span class="script">𝒱</span>')
CELL = 17
MARGIN = 34


def _matrix(name: str, values: Tensor, caption: str) -> Matrix:
    heads = [M(f"<i>x</i><sub>{k + 1}</sub>") for k in range(len(values))]
    return Matrix(M(name), values.tolist(), heads, heads, caption)


def tell_sharing(opened: Opened) -> Section:
    """H = Σ ⊙ Λ, and Λ = Π τ."""
    apart = (opened.gram * opened.shared_paths - opened.path_kernel).abs().max().item()
    both = ((opened.features[0] != 0) & (opened.features[1] != 0)).nonzero()[:, 0] + 1
    names = M(" and ").join(M(f"<i>p</i><sub>{path}</sub>") for path in both.tolist())
    layers = [
        _matrix(f"<i>τ</i><sub>{k}</sub>", tau, f"gates shared in layer {k}")
        for k, tau in enumerate(opened.shared, start=1)
    ]
    blocks = [
        Prose(
            [
                "Two inputs are alike to the network where the same paths are open for both. Count, "
                "layer by layer, the gates that both "
                "have open, and multiply: ",
                M("<i>Λ</i>"),
                " is the number of shared paths from one input node. Here ",
                M("<i>Λ</i>(1, 2) = " + number(opened.shared_paths[0, 1].item())),
                ", as in the paper’s figure: of eighteen paths only ",
                M(names),
                f" are open for both, one from each input node; the first and the third share "
                f"{_count(opened.shared_paths[0, 2])}.",
            ]
        ),
        Equation(
            [layers[0], "⊙", layers[1], "=", _matrix("<i>Λ</i>", opened.shared_paths, "paths shared")],
            "tau 1 times tau 2, entry by entry, is Lambda",
        ),
        Prose(["The neural path kernel weighs that count by how alike the inputs are themselves."]),
        Equation(
            [
                _matrix("<i>Σ</i>", opened.gram, "inner products of the inputs"),
                "⊙",
                _matrix("<i>Λ</i>", opened.shared_paths, "paths shared"),
                "=",
                _matrix("<i>H</i>", opened.path_kernel, "from the listed features"),
            ],
            "Sigma times Lambda, entry by entry, is H",
        ),
        Note(
            [
                M("<i>H</i> = <i>Σ</i> ⊙ <i>Λ</i> is Lemma 2.1. "),
                f"The counts are taken from packed bits, the right side from listed paths; both sides "
                f"{agreement(apart)}.",
            ]
        ),
    ]
    return Section("sharing", "Two inputs meet where they share paths", blocks)


def _count(value: Tensor) -> str:
    return {0: "none", 1: "one", 2: "two"}.get(int(value.item()), number(value.item()))


def tell_tangent(opened: Opened) -> Section:
    """K = ΦᵀVΦ."""
    apart = (opened.tangent_kernel - opened.jacobian_kernel).abs().max().item()
    blocks = [
        Prose(
            [
                "How a step of training moves one output when it is taken for another input is the "
                "neural tangent kernel ",
                M("<i>K</i>"),
                ". With gates as they are it, too, is made of paths: ",
                VTK,
                " says how far two paths share weights, whatever the input; the features say which "
                "paths an input uses.",
            ]
        ),
        Formula(
            M(f"<i>K</i> = <i>Φ</i><sup>⊤</sup> {VTK} <i>Φ</i>"), "K is Phi transposed times V times Phi"
        ),
        Row(
            [
                Drawing(
                    _heat_map(opened.value_kernel),
                    [
                        M(f"{VTK}, 18 × 18: "),
                        "the inner products of the paths’ derivatives by the weights. Two paths meet "
                        "where they have a weight in common; "
                        "the fuller the colour, the larger the entry. ",
                        tag("span", "positive", class_="key positive"),
                        " ",
                        tag("span", "negative", class_="key negative"),
                    ],
                ),
                Equation(
                    [
                        _matrix(
                            f"<i>Φ</i><sup>⊤</sup> {VTK} <i>Φ</i>", opened.tangent_kernel, "from listed paths"
                        ),
                        "=",
                        _matrix("<i>K</i>", opened.jacobian_kernel, "from autograd’s derivatives"),
                    ],
                    "Phi transposed times V times Phi is K",
                ),
            ]
        ),
        Note(["This is Proposition 3.1. ", f"Both sides {agreement(apart)}."]),
    ]
    return Section("tangent", "What training sees", blocks)


def _heat_map(kernel: Tensor) -> Markup:
    paths = len(kernel)
    side = MARGIN + CELL * paths
    largest = kernel.abs().max().item()
    cells = [
        _cell(row, column, value, largest)
        for row, values in enumerate(kernel.tolist())
        for column, value in enumerate(values)
        if value
    ]
    ground = tag("rect", x=MARGIN, y=MARGIN, width=CELL * paths, height=CELL * paths, class_="ground")
    return tag(
        "svg",
        ground,
        *cells,
        *_names(paths),
        viewBox=f"0 0 {side + 4} {side + 4}",
        class_="heat",
        role="img",
        aria_label=f"The value tangent kernel of {paths} paths as a map of shades; "
        f"{len(cells)} of its {paths**2} entries are not zero",
    )


def _cell(row: int, column: int, value: float, largest: float) -> Markup:
    # the square root, so that small entries can be seen beside the largest
    opacity = (abs(value) / largest) ** 0.5
    title = tag("title", f"𝒱(p{row + 1}, p{column + 1}) = {number(value)}")
    x, y = MARGIN + CELL * column, MARGIN + CELL * row
    kind = "negative" if value < 0 else "positive"
    return tag("rect", title, x=x, y=y, width=CELL, height=CELL, class_=kind, fill_opacity=round(opacity, 3))


def _names(paths: int) -> Sequence[Markup]:
    names = []
    for path in range(0, paths, 3):
        middle = MARGIN + CELL * (path + 0.5)
        text = M(f"p{path + 1}")
        names.append(tag("text", text, x=MARGIN - 6, y=middle, dy=".35em", text_anchor="end"))
        names.append(tag("text", text, x=middle, y=MARGIN - 8, text_anchor="middle"))
    return names
