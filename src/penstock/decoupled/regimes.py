"""`regime`: the four ways in which N trains a deep gated network, by their names (N Section 4)."""

from dataclasses import dataclass
from typing import Literal, get_args

from torch import Generator, nn

from penstock.decoupled.decoupling import decouple
from penstock.decoupled.network import GatedNetwork, Part
from penstock.decoupled.redrawing import Law, redrawn
from penstock.errors import PenstockError, nearest
from penstock.gates.gate import Gate, Hard, Soft

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
    """A deep gated network of `model`'s architecture, ready to be trained in one of N's regimes (Section 4).

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
    if name not in _SETTINGS:
        raise PenstockError(f"there is no regime called {name!r}; {nearest(name, get_args(Regime))}")
    setting = _SETTINGS[name]
    if setting.learnt != (trained is not None):
        raise PenstockError(
            f"the regime {name!r} takes its gates from a trained network; name it: trained=model"
            if setting.learnt
            else f"the regime {name!r} draws its gates and takes no trained network; leave trained= out"
        )
    pair = decouple(model, gate or setting.gate, train=setting.train)
    if trained is not None:
        _take_over(pair.feature, trained)
    else:
        redrawn(pair.feature, init, generator)
    if setting.independent:
        redrawn(pair.value, init, generator)
    else:
        pair.value.load_state_dict(pair.feature.state_dict())
    return pair


def _take_over(feature: nn.Module, trained: nn.Module) -> None:
    try:
        feature.load_state_dict(trained.state_dict())
    except RuntimeError as error:
        raise PenstockError(
            f"trained= is a {type(trained).__name__} whose weights are not those of the model's architecture "
            f"({str(error).splitlines()[-1].strip()}); give two networks of one architecture"
        ) from error
