"""The value network of DGN^(m), whose hidden layers are m times as wide (N Definition C.1).

A unit kw + i of a wider layer belongs to unit i of the model: of channels, and so of what a flattening makes
of them, there are m groups side by side, each in the order of the model.
"""

from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.conv import _ConvNd
from torch.nn.modules.instancenorm import _InstanceNorm

from penstock.decoupled.deriving import derives
from penstock.decoupled.redrawing import redrawn
from penstock.errors import PenstockError
from penstock.model import describe, layers
from penstock.model.copies import independent_copy

__all__ = ["widened"]

# Of these each knows how wide its input is, or mixes channels by their place.
_BOUND = (nn.GroupNorm, nn.LayerNorm, nn.RMSNorm, _InstanceNorm, nn.ChannelShuffle)


def widened(model: nn.Module, times: int) -> nn.Module:
    """A copy with every hidden width times `times`, its weights drawn as its layers draw theirs.

    What the first layer takes and what the last one gives stays as it is.
    """
    copied = independent_copy(model)
    weighty = [(path, module) for path, module in layers(copied) if isinstance(module, nn.Linear | _ConvNd)]
    if len(weighty) < 2:
        raise PenstockError(
            f"{describe('', model)} has no hidden layer that could be made wider; leave pad= out"
        )
    for path, module in layers(copied):
        inside = module not in (weighty[0][1], weighty[-1][1])
        if not _can_be_wider(module, inside):
            raise PenstockError(
                f"{describe(path, module)} cannot be made {times} times as wide; pad= takes modules of "
                "linear, convolution and BatchNorm layers, grouped convolutions only where each channel is a "
                "group and inside, and no derived weights"
            )
    made: dict[int, nn.Parameter] = {}
    for place, (_, module) in enumerate(weighty):
        _widen(module, 1 if place == 0 else times, 1 if place == len(weighty) - 1 else times, made)
    for _, module in layers(copied):
        if isinstance(module, _BatchNorm):
            _widen_norm(module, times, made)
    return redrawn(copied, None, None)


def _can_be_wider(module: nn.Module, inside: bool) -> bool:
    if isinstance(module, _ConvNd) and module.groups > 1:
        return inside and module.groups == module.in_channels and not derives(module)
    if isinstance(module, nn.Linear | _ConvNd | _BatchNorm):
        return not derives(module)
    # a PReLU's slopes are those of the feature network
    own = any(True for _ in module.parameters(recurse=False))
    return isinstance(module, nn.PReLU) or not (own or isinstance(module, _BOUND))


def _widen(module: nn.Linear | _ConvNd, inputs: int, outputs: int, made: dict[int, nn.Parameter]) -> None:
    if isinstance(module, nn.Linear):
        module.in_features *= inputs
        module.out_features *= outputs
        shape = (module.out_features, module.in_features)
    else:
        if module.groups > 1:
            module.groups *= inputs
        module.in_channels *= inputs
        module.out_channels *= outputs
        ends = (module.out_channels, module.in_channels)
        first, second = ends[::-1] if module.transposed else ends
        shape = (first, second // module.groups, *module.kernel_size)
    _resize(module, "weight", shape, made)
    bias = shape[:1] if isinstance(module, nn.Linear) else (module.out_channels,)
    _resize(module, "bias", bias, made)


def _widen_norm(module: _BatchNorm, times: int, made: dict[int, nn.Parameter]) -> None:
    module.num_features *= times
    for name in ("weight", "bias", "running_mean", "running_var"):
        _resize(module, name, (module.num_features,), made)


def _resize(module: nn.Module, name: str, shape: tuple[int, ...], made: dict[int, nn.Parameter]) -> None:
    """Gives the layer an empty tensor of this shape; layers that share a parameter go on sharing one."""
    tensor = getattr(module, name)
    if tensor is None:
        return
    if not isinstance(tensor, nn.Parameter):
        setattr(module, name, tensor.detach().new_empty(shape))
        return
    fresh = made.setdefault(
        id(tensor), nn.Parameter(tensor.detach().new_empty(shape), requires_grad=tensor.requires_grad)
    )
    if tuple(fresh.shape) != shape:
        raise PenstockError(
            f"{describe('', module)} shares its {name} with a layer that takes or gives another width, so "
            "that it cannot be made wider; leave pad= out"
        )
    setattr(module, name, fresh)
