"""`decouple`: a module split into a network that makes gates and one whose signal they multiply."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from torch import Tensor, nn

from penstock.decoupled.network import GatedNetwork, Part
from penstock.decoupled.outside import FixedGates
from penstock.decoupled.tying import tie
from penstock.decoupled.widening import widened
from penstock.errors import PenstockError, nearest
from penstock.gates.gate import Gate, Hard
from penstock.gates.record import GateRecord
from penstock.gates.unseen import check_visible
from penstock.model import describe, layers, placement
from penstock.model.copies import independent_copy

__all__ = ["decouple"]

Outside = nn.Module | GateRecord | Mapping[str, Tensor] | Sequence[Tensor]
"""Where gates from outside come from."""


def decouple(
    model: nn.Module,
    gate: Gate = Hard(),
    *,
    feature_gate: Gate = Hard(),
    train: Part = "both",
    gates: Outside | None = None,
    pad: int = 1,
    tied: bool = False,
) -> GatedNetwork:
    """A deep gated network of `model`'s architecture (N Section 4, D Table 2): z^v = q^v ⊙ G(q^f).

    Both networks begin as copies of the model, which is left alone, so with the gates given here as defaults
    `decouple(model)(x)` is `model(x)`. Redraw one or both with `penstock.regime`.

    * `gate` is what multiplies the value signal where the model has a ReLU: `Hard()`, or `Soft(beta,
      epsilon)`, through which the feature network learns. A LeakyReLU's becomes slope + (1 - slope)·G.
      Max-pooling's choice, the sign of |·|, and smooth gates (SiLU, GELU) are the feature network's own, and
      so is a PReLU's slope.
    * `feature_gate` is what the feature network itself uses: `Hard()` in N Table 4, the same soft gate in D
      Table 2.
    * `train` says which of the two are trained: `"both"`, `"value"` (fixed gates), `"feature"` (D Table 3,
      N(Θ^g, β; Θ^w_†): the gates alone, which takes a soft gate). What the model has frozen stays frozen.
    * `gates` takes them from outside: a module that emits them, or one tensor for each gate layer with a row
      for each example (a list in the order of the calls, a dictionary by their names, or a `GateRecord`).
    * `pad` makes the value network's hidden layers `pad` times as wide, each gate used `pad` times, with
      weights drawn afresh (N Definition C.1).
    * `tied` gives both networks one set of parameters, N(Θ, β; Θ) of D Table 3.

    >>> pair = decouple(model)
    >>> torch.equal(pair(x), model(x))
    True
    """
    _check(model, gate, feature_gate, train, gates, pad, tied)
    outside = gates is not None
    feature = _emitter(gates) if gates is not None else independent_copy(model)
    value = independent_copy(model) if pad == 1 else widened(model, pad)
    pair = GatedNetwork(feature, value, gate, feature_gate, train, outside=outside, pad=pad)
    return tie(pair) if tied else pair


def _emitter(gates: Outside) -> nn.Module:
    if isinstance(gates, nn.Module):
        return gates
    if isinstance(gates, GateRecord | Mapping) or (
        isinstance(gates, Sequence) and not isinstance(gates, str | bytes)
    ):
        return FixedGates(gates)
    raise PenstockError(
        f"gates= takes a module that emits gates, a record, or one tensor for each gate layer, not "
        f"{type(gates).__name__}" + ("; put it in a list: gates=[…]" if isinstance(gates, Tensor) else "")
    )


def _check(model: Any, gate: Any, feature_gate: Any, train: Any, gates: Any, pad: Any, tied: bool) -> None:
    if not isinstance(model, nn.Module):
        raise PenstockError(f"decouple takes a torch.nn.Module, not {type(model).__name__}")
    for path, module in layers(model):
        if isinstance(module, GatedNetwork):
            raise PenstockError(
                f"{describe(path, module)} is decoupled already; decouple the model that it was made from"
            )
    for name, given in (("gate", gate), ("feature_gate", feature_gate)):
        if not isinstance(given, Gate):
            raise PenstockError(f"{name}= takes a gate, such as Hard() or Soft(beta=4.0), not {given!r}")
    if train not in get_args(Part):
        raise PenstockError(f"train={train!r} names no part; {nearest(train, get_args(Part))}")
    if not isinstance(pad, int) or isinstance(pad, bool) or pad < 1:
        raise PenstockError(f"pad={pad!r} is no number of times; give 1 or a larger whole number")
    if not isinstance(tied, bool):
        raise PenstockError(f"tied= is True or False, not {tied!r}")
    _check_together(train, gates, pad, tied)
    if gates is not None and (gate, feature_gate) != (Hard(), Hard()):
        raise PenstockError(
            "gates= gives the gates themselves, and then nothing is read by gate= or feature_gate=; leave "
            "these out"
        )
    placement(model)
    check_visible(model)


def _check_together(train: Part, gates: Outside | None, pad: int, tied: bool) -> None:
    if tied and (gates is not None or pad > 1 or train != "both"):
        what = "gates=" if gates is not None else f"pad={pad}" if pad > 1 else f"train={train!r}"
        raise PenstockError(
            f"tied=True gives both networks one set of parameters, which does not go with {what}; leave one "
            "of the two out"
        )
    if train == "feature" and gates is not None and not isinstance(gates, nn.Module):
        raise PenstockError(
            "train='feature' trains what makes the gates, and gates= gives gates that are fixed; give a "
            "module that emits them, or train='value'"
        )
