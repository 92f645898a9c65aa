"""What depends on training mode.

Training mode by itself is no reason to refuse a model: most layers do the same in both modes. Refused are
those that do not: normalization over the batch, dropout, random slopes, and any layer of the user's whose
code asks `self.training`.
"""

from collections.abc import Iterator
from types import CodeType, FunctionType

from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.dropout import _DropoutNd
from torch.nn.modules.instancenorm import _InstanceNorm

from penstock.errors import PenstockError
from penstock.model.parts import describe, layers

__all__ = ["check_mode"]

_BATCH = "gates depend on the whole batch"
_RANDOM = "it draws at random"

# Methods that speak of the mode without computing anything by it.
_SILENT = {"train", "eval", "extra_repr", "__init__", "__repr__"}


def check_mode(model: nn.Module) -> None:
    """Refuses what makes a row's result depend on chance or on the other rows."""
    for path, module in layers(model):
        reason = _changed_by_training(module) if module.training else None
        if reason is not None:
            raise PenstockError(
                f"{describe(path, module)} is in training mode, where {reason}; call model.eval() first"
            )
        if isinstance(module, _BatchNorm) and (module.running_mean is None or module.running_var is None):
            raise PenstockError(
                f"{describe(path, module)} keeps no running statistics, so that {_BATCH} in evaluation mode "
                "too; make it with track_running_stats=True"
            )


def _changed_by_training(module: nn.Module) -> str | None:
    match module:
        case _BatchNorm():
            return _BATCH
        case _InstanceNorm():
            return "it updates its running statistics" if module.track_running_stats else None
        case _DropoutNd():
            return _RANDOM if module.p > 0 else None
        case nn.RReLU():
            return _RANDOM if module.lower != module.upper else None
        case nn.RNNBase():
            return _RANDOM if module.dropout > 0 and module.num_layers > 1 else None
        case nn.MultiheadAttention():
            return _RANDOM if module.dropout > 0 else None
    return "its own code does something else" if _asks_for_mode(module) else None


def _asks_for_mode(module: nn.Module) -> bool:
    """Whether code that is not torch's own layers', of the class or of a hook, reads `.training`."""
    return any("training" in code.co_names for code in _own_code(module))


def _own_code(module: nn.Module) -> Iterator[CodeType]:
    for kind in type(module).__mro__:
        if kind is nn.Module or kind.__module__.startswith("torch.nn.modules."):
            break
        for name, member in vars(kind).items():
            if isinstance(member, FunctionType) and name not in _SILENT:
                yield from _nested(member.__code__)
    for hook in (*module._forward_pre_hooks.values(), *module._forward_hooks.values()):
        function = hook if isinstance(hook, FunctionType) else vars(type(hook)).get("__call__")
        if isinstance(function, FunctionType):
            yield from _nested(function.__code__)


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)
