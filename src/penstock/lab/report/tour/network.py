"""A 2-3-3-1 network as a drawing: its gates' bits, the weights that carry, the paths that can be traced in
it."""

from collections.abc import Iterator, Sequence
from itertools import pairwise, product

from torch import Tensor

from penstock.lab.report.page.markup import Markup, number, tag
from penstock.lab.report.subnetworks import active_weights
from penstock.lab.report.tour.opened import WIDTHS, Opened

__all__ = ["draw_network", "draw_small", "edges_that_carry", "spoken", "trace"]

# Where layers stand, and how far the units of one are apart.
COLUMNS = (132, 286, 440, 594)
MIDDLE, APART = 158, 120
SIZE = (700, 316)
RADIUS = 23


def place(layer: int, unit: int) -> tuple[float, float]:
    """The center of a unit."""
    return float(COLUMNS[layer]), MIDDLE + APART * (unit - (WIDTHS[layer] - 1) / 2)


def trace(path: Sequence[int]) -> str:
    """A path as the points of a line."""
    return " ".join("{:g},{:g}".format(*place(layer, unit)) for layer, unit in enumerate(path))


def wires() -> Iterator[tuple[int, int, int]]:
    """Every weight: the layer that it leaves, the unit there, the unit in the next."""
    for layer, (fan_in, fan_out) in enumerate(pairwise(WIDTHS)):
        for below, above in product(range(fan_in), range(fan_out)):
            yield layer, below, above


def edges_that_carry(gates: Sequence[Tensor], example: int) -> list[tuple[int, int, int]]:
    """The weights on which an open path of this example runs."""
    carried = active_weights(WIDTHS, [layer.numpy() for layer in gates], example)
    return [(layer, below, above) for layer, below, above in wires() if carried[layer][above, below]]


def spoken(gates: Sequence[Tensor], example: int) -> str:
    """The gates of one input, read aloud."""
    layers = (
        f"hidden layer {number} has gates "
        + ", ".join("open" if bit else "shut" for bit in layer[example].tolist())
        for number, layer in enumerate(gates, start=1)
    )
    return f"Input {example + 1}: " + "; ".join(layers)


def draw_network(opened: Opened, example: int) -> Markup:
    """One input's sub-network in full: bits in the gates, numbers on the weights that carry, a line for a
    traced path."""
    carrying = edges_that_carry(opened.gates, example)
    weights = [parameter.detach() for parameter in opened.model.parameters()]
    labels = [_weight(edge, weights[edge[0]][edge[2], edge[1]].item()) for edge in carrying]
    inputs = opened.x[example].tolist()
    ends = [
        *(_end(0, unit, f"x({unit + 1}) = {number(value)}", -18, "end") for unit, value in enumerate(inputs)),
        _end(3, 0, f"ŷ = {number(opened.output[example].item())}", 18, "start"),
    ]
    traced = tag("polyline", points="", class_="traced")
    body = [*_wires(carrying), traced, *labels, *_gates(opened.gates, example, carrying), *ends]
    return _svg(body, spoken(opened.gates, example), "network")


def draw_small(gates: Sequence[Tensor], example: int) -> Markup:
    """The same at a glance. Every wire and gate is named, so that a script can open and shut it."""
    carrying = edges_that_carry(gates, example)
    ends = [_dot(0, 0), _dot(0, 1), _dot(3, 0)]
    body = [*_wires(carrying), *_gates(gates, example, carrying), *ends]
    return _svg(body, spoken(gates, example), "network small", around=(96, 534))


def _svg(body: Sequence[Markup], label: str, kind: str, around: tuple[int, int] = (0, SIZE[0])) -> Markup:
    left, width = around
    return tag("svg", *body, viewBox=f"{left} 0 {width} {SIZE[1]}", class_=kind, role="img", aria_label=label)


def _wires(carrying: Sequence[tuple[int, int, int]]) -> Iterator[Markup]:
    """Those that carry last, so that they lie on top."""
    for edge in sorted(wires(), key=lambda edge: edge in carrying):
        layer, below, above = edge
        (x1, y1), (x2, y2) = place(layer, below), place(layer + 1, above)
        kind = "wire on" if edge in carrying else "wire"
        yield tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind, data_edge="-".join(map(str, edge)))


def _gates(
    gates: Sequence[Tensor], example: int, carrying: Sequence[tuple[int, int, int]]
) -> Iterator[Markup]:
    used = {(layer + 1, above) for layer, _, above in carrying}
    for layer, bits in enumerate(gates, start=1):
        for unit, is_open in enumerate(bits[example].tolist()):
            x, y = place(layer, unit)
            kind = "gate" + (" open" if is_open else "") + (" used" if (layer, unit) in used else "")
            circle = tag("circle", cx=x, cy=y, r=RADIUS)
            bit = tag("text", "1" if is_open else "0", x=x, y=y, dy=".35em", text_anchor="middle")
            yield tag("g", circle, bit, class_=kind, data_gate=f"{layer}-{unit}")


def _weight(edge: tuple[int, int, int], value: float) -> Markup:
    """A weight's number on its wire, nearer to where the wire comes from, so that two wires to one gate
    stay apart."""
    layer, below, above = edge
    (x1, y1), (x2, y2) = place(layer, below), place(layer + 1, above)
    share = 0.4
    return tag(
        "text",
        number(value),
        x=x1 + share * (x2 - x1),
        y=y1 + share * (y2 - y1),
        dy=".35em",
        text_anchor="middle",
        class_="weight",
    )


def _end(layer: int, unit: int, label: str, aside: int, anchor: str) -> Markup:
    x, y = place(layer, unit)
    text = tag("text", label, x=x + aside, y=y, dy=".35em", text_anchor=anchor, class_="end")
    return tag("g", _dot(layer, unit), text)


def _dot(layer: int, unit: int) -> Markup:
    x, y = place(layer, unit)
    return tag("circle", cx=x, cy=y, r=8, class_="dot")
