"""HTML and SVG, written so that text is always escaped and markup never twice."""

import html
from collections.abc import Iterable

__all__ = ["Markup", "agreement", "join", "number", "tag"]

VOID = frozenset({"br", "hr", "img", "input", "meta", "link"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def escaped(text: str) -> Markup:
    return text if isinstance(text, Markup) else Markup(html.escape(text))


def join(parts: Iterable[str], between: str = "") -> Markup:
    return Markup(escaped(between).join(escaped(part) for part in parts))


def tag(name: str, /, *children: str, **attributes: object) -> Markup:
    """`tag("p", "a < b", class_="note")`. True is an attribute without a value; None and False are left
    out."""
    written = "".join(
        _attribute(key, value)
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{join(children)}</{name}>")


def _attribute(key: str, value: object) -> str:
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return f' {name}="{html.escape(text)}"'


SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float, digits: int = 4) -> str:
    """A number as people write it: a true minus sign, no -0, powers of ten with their exponent raised."""
    mantissa, _, power = f"{value:.{digits}g}".partition("e")
    if float(mantissa) == 0:
        return "0"
    raised = f"·10{str(int(power)).translate(SUPERSCRIPTS)}" if power else ""
    return mantissa.replace("-", "−") + raised


def agreement(apart: float) -> str:
    """How two ways to one number agree: `are equal to the last bit`, or by how much they differ."""
    return f"differ by {number(apart, 2)}" if apart else "are equal to the last bit"
