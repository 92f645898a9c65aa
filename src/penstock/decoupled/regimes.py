"""`regime`: the four ways in which N trains a deep gated network, by their names (N Section 4)."""

from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Literal, get_args

from torch import Generator, nn

from penstock.decoupled.decoupling import decouple
from penstock.decoupled.network import GatedNetwork, Part
from penstock.decoupled.redrawing import Law, redrawn
from penstock.errors import PenstockError, nearest
from penstock.gates.gate import Gate, Hard, Soft
from penstock.model import describe

__all__ = ["Regime", "regime"]

Regime = Literal["dlnpf", "flnpf", "frnpf-ii", "frnpf-di"]


@dataclass(frozen=True)
class _Setting:
    gate: Gate
    train: Part
    learnt: bool
    """Whether the gates come from a trained network."""
    independent: bool
    """Whether the value network's weights are drawn apart from the feature network's."""


_SETTINGS: dict[str, _Setting] = {
    "dlnpf": _Setting(Soft(), "both", learnt=False, independent=True),
    "flnpf": _Setting(Hard(), "value", learnt=True, independent=True),
    "frnpf-ii": _Setting(Hard(), "value", learnt=False, independent=True),
    "frnpf-di": _Setting(Hard(), "value", learnt=False, independent=False),
}


def regime(
    model: nn.Module,
    name: Regime,
    *,
    gate: Gate | None = None,
    trained: nn.Module | None = None,
    init: Law | None = None,
    generator: Generator | None = None,
) -> GatedNetwork:
    """A deep gated network of `model`'s architecture, ready to be trained in one of the regimes of
    N Section 4.

    | name | features | values | gate | trained |
    |---|---|---|---|---|
    | `"dlnpf"` | drawn afresh | drawn afresh, independent | `Soft()` | both |
    | `"flnpf"` | `trained`'s | drawn afresh | `Hard()` | values |
    | `"frnpf-ii"` | drawn afresh | drawn afresh, independent | `Hard()` | values |
    | `"frnpf-di"` | drawn afresh | a copy of them | `Hard()` | values |

    Weights are drawn as each layer draws its own, or by `init`, which fills a weight in place
    (`torch.nn.init.xavier_uniform_`): then biases begin at 0. Numbers come from `generator`, the feature
    network's first, or from torch's global state.

    >>> pair = regime(model, "flnpf", trained=model)
    >>> all(torch.equal(ours, its) for ours, its in zip(pair.feature.parameters(), model.parameters()))
    True
    """
    if not isinstance(name, str) or name not in _SETTINGS:
        raise PenstockError(f"there is no regime called {name!r}; {nearest(name, get_args(Regime))}")
    setting = _SETTINGS[name]
    if setting.learnt != (trained is not None):
        raise PenstockError(
            f"the regime {name!r} takes its gates from a trained network; name it: trained=model"
            if setting.learnt
            else f"the regime {name!r} draws its gates and takes no trained network; leave trained= out"
        )
    pair = decouple(model, setting.gate if gate is None else gate, train=setting.train)
    if setting.train == "both" and pair.gate == Hard():
        raise PenstockError(
            f"the regime {name!r} learns its gates, and no derivative goes through hard ones; give a soft "
            "gate, such as Soft(beta=4.0)"
        )
    if not any(parameter.requires_grad for parameter in pair.value.parameters()):
        raise PenstockError(
            f"none of the parameters of {describe('', model)} requires gradients, so no value network of it "
            "can be trained; call model.requires_grad_(True) first"
        )
    if trained is not None:
        _take_over(model, pair.feature, trained)
    else:
        redrawn(pair.feature, init, generator)
    if setting.independent:
        redrawn(pair.value, init, generator)
    else:
        pair.value.load_state_dict(pair.feature.state_dict())
    return pair


def _take_over(model: nn.Module, feature: nn.Module, trained: Any) -> None:
    if not isinstance(trained, nn.Module):
        raise PenstockError(f"trained= takes a torch.nn.Module, not {type(trained).__name__}")
    model, trained = (getattr(each, "_orig_mod", each) for each in (model, trained))
    try:
        feature.load_state_dict(trained.state_dict())
    except RuntimeError as error:
        reason = str(error).splitlines()[-1].strip().removesuffix(".")
    else:
        reason = _difference(repr(model), repr(trained)) if type(model) is type(trained) else ""
    if not reason:
        return
    raise PenstockError(
        f"trained= is a {type(trained).__name__} whose architecture is not the model's ({reason}); give two "
        "networks of one architecture"
    )


def _difference(mine: str, its: str) -> str:
    """The first line in which two modules are told differently: a slope, a stride, a layer."""
    lines = zip_longest(mine.splitlines(), its.splitlines(), fillvalue="nothing")
    return next((f"{b.strip()} in place of {a.strip()}" for a, b in lines if a != b), "")
