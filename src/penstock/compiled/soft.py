"""The derivatives of soft gates, each in one pass over memory, from the gates' values alone.

A soft gate G = top · σ(steep · q) has the derivative steep · G · (1 - G / top). Plain torch takes a pass for
every operation in it.
"""

from functools import partial
from typing import Any, no_type_check

from numpy.typing import NDArray

from penstock.compiled.keeping import cached
from penstock.compiled.strips import in_strips

__all__ = ["through_gate", "through_product", "through_relu"]

# Numbers of one strip: some ten microseconds of work.
_STRIP = 1 << 16

Flat = NDArray[Any]


def through_product(
    gradient: Flat,
    signal: Flat,
    gate: Flat,
    steep: float,
    top: float,
    by_signal: Flat,
    by_q: Flat,
    threads: int,
) -> None:
    """For y = signal · G(q), with dL/dy: writes dL/dsignal and dL/dq."""
    kind = gate.dtype.type
    scale = kind(steep), kind(steep / top)
    strip = partial(_product, gradient, signal, gate, *scale, by_signal, by_q, _STRIP)
    in_strips(strip, range(0, len(gate), _STRIP), threads)


def through_gate(gradient: Flat, gate: Flat, steep: float, top: float, by_q: Flat, threads: int) -> None:
    """For G(q), with dL/dG: writes dL/dq."""
    kind = gate.dtype.type
    strip = partial(_gate, gradient, gate, kind(steep), kind(steep / top), by_q, _STRIP)
    in_strips(strip, range(0, len(gate), _STRIP), threads)


def through_relu(gradient: Flat, output: Flat, beside: Flat, by_q: Flat, threads: int) -> None:
    """For z = relu(q), with dL/dz and what comes to q `beside` it: writes their sum."""
    strip = partial(_relu, gradient, output, beside, _STRIP)
    in_strips(partial(strip, by_q), range(0, len(output), _STRIP), threads)


@cached
@no_type_check
def _product(gradient, signal, gate, steep, bend, by_signal, by_q, length, start):
    for i in range(start, min(start + length, len(gate))):
        part = gradient[i] * gate[i]
        by_signal[i] = part
        by_q[i] = part * signal[i] * (steep - bend * gate[i])


@cached
@no_type_check
def _gate(gradient, gate, steep, bend, by_q, length, start):
    for i in range(start, min(start + length, len(gate))):
        by_q[i] = gradient[i] * gate[i] * (steep - bend * gate[i])


@cached
@no_type_check
def _relu(gradient, output, beside, length, by_q, start):
    for i in range(start, min(start + length, len(output))):
        by_q[i] = gradient[i] + beside[i] if output[i] > 0 else beside[i]
