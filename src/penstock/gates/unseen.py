"""What the watch cannot see, it must not pass over.

Below the watch, every operation that torch runs is seen, also by code that is no Python any more. A ReLU-like one that
no watched call explains is a refusal; so is a custom autograd Function, and what holds a whole piece of program as one
operation. Before the model runs, layers known to hide their ReLUs are refused by name.

Seen by none of these is a gate written by hand (`x * (x > 0)`, `torch.maximum`, `torch.where`), in the model's own
thread or in another one: only the proof finds it (`record.verify`).
"""

import sys
from types import CodeType, FrameType
from typing import Any

import torch
from torch import Tensor, nn
from torch._ops import HigherOrderOperator, OpOverload

from penstock.errors import PenstockError
from penstock.gates.dependence import Dependence
from penstock.model import describe, layers
from penstock.model.calling import call

__all__ = ["Unseen", "check_visible", "refuse_custom_functions"]

# Parts of the names of operations that are ReLUs or hold one, and of their kin.
_RELU = ("relu", "threshold", "_addmm_activation", "_transformer_encoder_layer")
_KIN = ("hardtanh", "silu", "swish", "gelu", "max_pool")
_NOT_GATES = ("hardswish", "backward")
_RECURRENT = ("_cudnn_rnn", "miopen_rnn")


def check_visible(model: nn.Module) -> None:
    """Refuses, by name, the layers whose ReLUs run where no watch sees them."""
    for path, module in layers(model):
        who = describe(path, module)
        match module:
            case torch.jit.ScriptModule():
                raise PenstockError(
                    f"{who} is scripted or traced, and its gates cannot be watched; give the module it was made from"
                )
            case nn.DataParallel():
                raise PenstockError(
                    f"{who} runs in threads of its own, which cannot be watched; give the module inside it, "
                    f"{path + '.' if path else 'model.'}module"
                )
            case nn.RNN() | nn.RNNCell() if module.nonlinearity == "relu":
                raise PenstockError(
                    f"{who} hides the ReLUs of its steps inside one operation; write the recurrence with torch.relu"
                )


class Unseen(Dependence):
    """Refuses what a watched call does not explain."""

    def on_operation(self, operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self.watch.explaining:
            return
        refuse_custom_functions()
        if isinstance(operation, HigherOrderOperator):
            raise PenstockError(
                f"the call of {self.watch.names.place(operation.name())}, holds a piece of program as one operation, where "
                "gates cannot be watched; write it in plain Python"
            )
        if not isinstance(operation, OpOverload) or not self._is_gate(operation, args):
            return
        name = operation._schema.name.split("::")[1].rstrip("_")
        outer = getattr(self.watch.within, "__name__", "")
        inside = f" (inside {outer})" if outer else ""
        raise PenstockError(
            f"the operation {self.watch.names.place(name + inside)}, is a gate that runs where it cannot be watched, as in "
            "scripted, fused or compiled code; write it as a call of torch.relu or its kin"
        )

    def _is_gate(self, operation: OpOverload, args: tuple[Any, ...]) -> bool:
        name = operation._schema.name.split("::")[1]
        if any(part in name for part in _NOT_GATES) or not self._on_signal(args):
            return False
        if any(part in name for part in _RELU) or _recurrent_relu(operation, args):
            return True
        # inside another function of torch's, such as softsign with its |x|, these are that function's own affair
        return self.watch.within is None and (
            any(part in name for part in _KIN) or name in ("abs", "abs_") or _clamps_at_zero(name, args)
        )

    def _on_signal(self, args: tuple[Any, ...]) -> bool:
        return bool(args) and isinstance(args[0], Tensor) and args[0].is_floating_point() and self.carried_by(args[0])


def _clamps_at_zero(name: str, args: tuple[Any, ...]) -> bool:
    return name in ("clamp", "clamp_", "clamp_min", "clamp_min_") and len(args) > 1 and args[1] == 0


def _recurrent_relu(operation: OpOverload, args: tuple[Any, ...]) -> bool:
    """cuDNN's recurrent networks are one operation, with a mode: 0 is ReLU."""
    if operation._schema.name.split("::")[1] not in _RECURRENT:
        return False
    modes = [value for argument, value in zip(operation._schema.arguments, args, strict=False) if argument.name == "mode"]
    return modes == [0]


_OUTERMOST: CodeType = call.__code__
_APPLY: CodeType = torch.autograd.Function.apply.__func__.__code__  # pyright: ignore[reportFunctionMemberAccess]


def refuse_custom_functions() -> None:
    """Refuses, while one runs, an autograd Function that is not torch's own: what it computes may be anything."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code is not _OUTERMOST:
        if frame.f_code is _APPLY:
            function = frame.f_locals["cls"]
            if not function.__module__.startswith("torch."):
                raise PenstockError(
                    f"the custom autograd Function {function.__name__} may hide gates, which cannot be watched; write it "
                    "with torch's own functions, torch.relu or its kin"
                )
        frame = frame.f_back
