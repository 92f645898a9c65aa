"""Which way the members of one shape are evaluated, and why."""

from collections.abc import Sequence

from torch import Tensor, nn

from penstock.errors import PenstockError
from penstock.training.ways.alone import Alone
from penstock.training.ways.chain import Chain, has_hooks, links_of
from penstock.training.ways.mapped import Mapped
from penstock.training.ways.rehearsal import differs, draws
from penstock.training.ways.way import Way

__all__ = ["choose"]

_LARGE = 2**18


def choose(models: Sequence[nn.Module], seeds: Sequence[int], x: Tensor, memory: int) -> Way:
    """The module's own way, if it brings one (`training_way(models, x, memory)`); `Chain` for a chain of
    linear layers; `Mapped` where a rehearsal on a few of the examples `x` gives what each module gives;
    otherwise `Alone`.

    >>> choose([model], [0], x, 2**30).why
    'the model is a chain of linear layers and ReLUs'
    """
    own = getattr(models[0], "training_way", None)
    way = own(models, x, memory) if own is not None else None
    if way is not None:
        if not isinstance(way, Way):
            raise PenstockError(
                f"training_way of {type(models[0]).__name__} gives a {type(way).__name__}; it must give a "
                "penstock.training.ways.way.Way or None"
            )
        return way
    if links_of(models[0], flat=x.ndim == 2) is not None:
        return Chain(models)
    return _stacked_or_alone(models, seeds, x)


def _stacked_or_alone(models: Sequence[nn.Module], seeds: Sequence[int], x: Tensor) -> Way:
    if draws(models[0], x):
        return Alone(models, seeds, "the model draws random numbers", draws=True)
    if len(models) == 1:
        return Alone(models, seeds, "there is one member of this shape")
    if any(has_hooks(layer) for model in models for layer in model.modules()):
        return Alone(models, seeds, "a layer has a hook, which is called for its own module alone")
    reason = (_dear_on_a_cpu(models[0]) if x.device.type == "cpu" else None) or differs(models, x)
    return Mapped(models) if reason is None else Alone(models, seeds, reason)


def _dear_on_a_cpu(model: nn.Module) -> str | None:
    """Where one member keeps a CPU busy, stacking saves no time but makes copies. Measured with five members:
    GCONV 1.5 times as long stacked, linear layers of 512 1.25 times, of 128 0.9 times, of 32 half."""
    if any(isinstance(layer, nn.modules.conv._ConvNd) for layer in model.modules()):
        return "stacked convolutions do not pay on a CPU"
    if sum(parameter.numel() for parameter in model.parameters()) > _LARGE:
        return "stacking does not pay on a CPU for a network of this size"
    return None
