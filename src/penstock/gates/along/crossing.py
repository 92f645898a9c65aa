"""What must change its sign for a gate to flip: functions of a layer's pre-activations, for each kind of
gate.

For ReLU and its kin it is q itself. A clipped unit has two, q - low and q - high. In a window of
max-pooling it is each entry less the one that was chosen. With all gates before it held, each of these is a
polynomial along a line of weights; the state is "above zero".
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from penstock.gates.choice import Pooling
from penstock.gates.kind import Kind
from penstock.gates.kinds import Clipped

__all__ = ["distance", "functions", "kept"]


def kept(kind: Kind, q: Float[Tensor, "n *shape"]) -> Float[Tensor, "n *kept"]:
    """What of q must be kept: q itself, and for max-pooling the entries of every window, -∞ where there is
    none.
    """
    return _entries(kind, q) if isinstance(kind, Pooling) else q


def functions(
    kind: Kind, slots: int, values: Float[Tensor, "items nodes k"]
) -> Float[Tensor, "items nodes m"]:
    """The functions, at several nodes of a line, from what was kept there (a window has `slots` entries).

    A window's are relative to the entry that is largest at the first node.
    """
    if isinstance(kind, Clipped):
        return torch.cat([values - kind.low, values - kind.high], dim=-1)
    if not isinstance(kind, Pooling):
        return values
    windows = values.unflatten(-1, (-1, slots))
    chosen = windows[:, :1].argmax(-1, keepdim=True).expand(*windows.shape[:-1], 1)
    ahead = windows - windows.gather(-1, chosen)
    return torch.where(ahead.isinf(), -1.0, ahead).flatten(-2)


def distance(kind: Kind, slots: int, values: Float[Tensor, "n k"]) -> Float[Tensor, " n"]:
    """How far the function that is nearest to zero is from it. Those that are zero itself do not count.

    They stand where nothing arrives (a unit without bias behind shut gates, a window of shut units), and
    stay there until a gate before them opens.
    """
    ends = (kind.low, kind.high) if isinstance(kind, Clipped) else ()
    away = [values - end for end in ends] or [values]
    if isinstance(kind, Pooling):
        windows = values.unflatten(-1, (-1, slots))
        away = [(windows - windows.amax(-1, keepdim=True)).flatten(1)]
    sizes = [each.abs() for each in away]
    nearest = torch.stack([size.amin(1) for size in sizes]).amin(0)
    if bool((nearest == 0).any()):
        nearest = torch.stack([torch.where(size == 0, math.inf, size).amin(1) for size in sizes]).amin(0)
    return nearest


def _entries(kind: Pooling, q: Float[Tensor, "n *shape"]) -> Float[Tensor, "n *out slots"]:
    """The entries of every window of max-pooling."""
    size, device = q.shape[-kind.dims :], q.device
    out = kind.indices(q).shape[-kind.dims :]
    place, inside = (
        torch.zeros((), dtype=torch.int64, device=device),
        torch.ones((), dtype=torch.bool, device=device),
    )
    for axis, window in enumerate(kind.windows(tuple(size), tuple(out), device)):
        steps = torch.arange(window.slots, device=device) * window.step
        # one axis of outputs and one of slots for each pooled dimension: outputs first, then slots
        shape = [1] * (2 * kind.dims)
        shape[axis], shape[kind.dims + axis] = out[axis], window.slots
        coordinate = (window.first[:, None] + steps).reshape(shape)
        inside = inside & (coordinate >= 0) & (coordinate < size[axis])
        place = place * size[axis] + coordinate.clamp(0, size[axis] - 1)
    entries = q.flatten(-kind.dims)[..., place.flatten()].unflatten(-1, (*out, -1))
    return entries.masked_fill(~inside.reshape(*out, -1), -math.inf)
