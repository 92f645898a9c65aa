"""The value network of DGN^(m), whose hidden layers are m times as wide (N Definition C.1)."""

from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.conv import _ConvNd

from penstock.decoupled.redrawing import redrawn
from penstock.errors import PenstockError
from penstock.model import describe, layers
from penstock.model.copies import independent_copy

__all__ = ["widened"]


def widened(model: nn.Module, times: int) -> nn.Module:
    """A copy with every hidden width times `times`, its weights drawn as its layers draw theirs.

    What the first layer takes and what the last one gives stays as it is.
    """
    copied = independent_copy(model)
    weighty = [(path, module) for path, module in layers(copied) if isinstance(module, nn.Linear | _ConvNd)]
    for path, module in layers(copied):
        own = any(True for _ in module.parameters(recurse=False))
        # a PReLU's slopes are those of the feature network
        if own and not isinstance(module, nn.Linear | _ConvNd | _BatchNorm | nn.PReLU):
            raise PenstockError(
                f"{describe(path, module)} cannot be made {times} times as wide; pad= takes modules of "
                "linear, convolution and BatchNorm layers"
            )
    if len(weighty) < 2:
        raise PenstockError(
            f"{describe('', model)} has no hidden layer that could be made wider; leave pad= out"
        )
    for place, (_, module) in enumerate(weighty):
        _widen(module, 1 if place == 0 else times, 1 if place == len(weighty) - 1 else times)
    for _, module in layers(copied):
        if isinstance(module, _BatchNorm):
            _widen_norm(module, times)
    return redrawn(copied, None, None)


def _widen(module: nn.Linear | _ConvNd, inputs: int, outputs: int) -> None:
    if isinstance(module, nn.Linear):
        module.in_features *= inputs
        module.out_features *= outputs
        shape = (module.out_features, module.in_features)
    else:
        if module.groups > 1 and module.groups == module.in_channels:
            module.groups *= inputs
        module.in_channels *= inputs
        module.out_channels *= outputs
        ends = (module.out_channels, module.in_channels)
        first, second = ends[::-1] if module.transposed else ends
        shape = (first, second // module.groups, *module.kernel_size)
    _resize(module, "weight", shape)
    _resize(module, "bias", shape[:1] if isinstance(module, nn.Linear) else (module.out_channels,))


def _widen_norm(module: _BatchNorm, times: int) -> None:
    module.num_features *= times
    for name in ("weight", "bias", "running_mean", "running_var"):
        _resize(module, name, (module.num_features,))


def _resize(module: nn.Module, name: str, shape: tuple[int, ...]) -> None:
    tensor = getattr(module, name)
    if tensor is None:
        return
    fresh = tensor.detach().new_empty(shape)
    if isinstance(tensor, nn.Parameter):
        fresh = nn.Parameter(fresh, requires_grad=tensor.requires_grad)
    setattr(module, name, fresh)
