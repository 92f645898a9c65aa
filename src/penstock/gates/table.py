"""A record as a table to read."""

from collections.abc import Sequence

from penstock.gates.layer import GateLayer, ValueLayer

__all__ = ["outline", "summarize"]


def outline(layers: Sequence[GateLayer]) -> str:
    """What costs nothing to know: the layers, their kinds and shapes."""
    rows = [(layer.name, str(layer.kind), _shape(layer), f"{layer.gates:,}") for layer in layers]
    return "\n".join([_headline(layers), *_aligned(("layer", "kind", "gates", "number"), rows, left=3)])


def summarize(layers: Sequence[GateLayer]) -> str:
    """The same, with the share of open gates and the number of dead and always-open units of every layer."""
    head = ("layer", "kind", "gates", "number", "open", "dead", "always open")
    rows = [
        (layer.name, str(layer.kind), _shape(layer), f"{layer.gates:,}", *_counted(layer)) for layer in layers
    ]
    return "\n".join([_headline(layers), *_aligned(head, rows, left=3)])


def _headline(layers: Sequence[GateLayer]) -> str:
    size, unit = float(sum(layer.nbytes for layer in layers)), "bytes"
    for larger in ("kB", "MB", "GB", "TB"):
        if size < 1000:
            break
        size, unit = size / 1000, larger
    gates = sum(layer.gates for layer in layers)
    return (
        f"GateRecord of {_many(len(layers[0]), 'example')}: {_many(len(layers), 'layer')}, "
        f"{_many(gates, 'gate')} an example, {size:.3g} {unit}"
    )


def _many(number: int, thing: str) -> str:
    return f"{number:,} {thing}" + "s" * (number != 1)


def _shape(layer: GateLayer) -> str:
    return "×".join(map(str, layer.shape)) or "1"


def _counted(layer: GateLayer) -> tuple[str, str, str]:
    if isinstance(layer, ValueLayer):
        return f"mean {layer.values.double().mean():.2f}", "-", "-"
    return f"{layer.fraction_open:.1%}", f"{int(layer.dead.sum()):,}", f"{int(layer.always_open.sum()):,}"


def _aligned(head: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> list[str]:
    """Lines of columns, the first `left` of them words and the others numbers."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place < left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in [head, *rows]
    ]
