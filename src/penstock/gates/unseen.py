"""What the watch cannot see, it must not pass over.

Below the watch, every operation that torch runs is seen, also by code that is no Python any more. A ReLU-like
one that no watched call explains is a refusal; so is a custom autograd Function, and what holds a whole piece
of program as one operation. Before the model runs, layers known to hide their ReLUs are refused by name.

Seen by none of these is a gate written by hand (`x * (x > 0)`, `torch.maximum`, `torch.where`), in the
model's own thread or in another one: only the proof finds it (`record.verify`).
"""

import inspect
import sys
from types import CodeType, FrameType
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch._ops import HigherOrderOperator, OpOverload

from penstock.errors import PenstockError
from penstock.gates.dependence import Dependence
from penstock.gates.watch import Watch
from penstock.model import describe, layers
from penstock.model.calling import call

__all__ = ["Unseen", "check_function", "check_visible"]

# Parts of the names of operations that are ReLUs or hold one, and of their kin.
_RELU = ("relu", "threshold", "fractional_max_pool", "_addmm_activation", "_transformer_encoder_layer")
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
                    f"{who} is scripted or traced, and its gates cannot be watched; give the module it was "
                    "made from"
                )
            case nn.DataParallel():
                raise PenstockError(
                    f"{who} runs in threads of its own, which cannot be watched; give the module inside it, "
                    f"{path + '.' if path else 'model.'}module"
                )
            case nn.RNN() | nn.RNNCell() if module.nonlinearity == "relu":
                raise PenstockError(
                    f"{who} hides the ReLUs of its steps inside one operation; write the recurrence with "
                    "torch.relu"
                )


class Unseen(Dependence):
    """Refuses what a watched call does not explain."""

    draws_at_random: ClassVar[bool] = False
    """Whether the run may draw random numbers: a record's may not, since its gates would be those of one
    draw.
    """

    def on_operation(self, operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self.watch.explaining:
            return
        check_function(self.watch)
        if isinstance(operation, HigherOrderOperator):
            self.watch.refuse(
                f"the call of {self._place(operation.name())} holds a piece of program as one operation, in "
                "which gates cannot be watched; write it in plain Python"
            )
        if not isinstance(operation, OpOverload):
            return
        outer = getattr(self.watch.within, "__name__", "")
        if not self.draws_at_random and self._on_signal(args) and _draws(operation, args, kwargs):
            self.watch.refuse(
                f"{self._place(outer or _plain(operation))} draws at random, so that gates would be those of "
                "one draw; leave it out in evaluation mode, as F.dropout(x, training=self.training) does"
            )
        if self._is_gate(operation, args):
            inside = f" of {outer}" if outer else ""
            self.watch.refuse(
                f"the operation {self._place(_plain(operation) + inside)} is a gate that runs where it "
                "cannot be watched, as in scripted, fused or compiled code; write it as a call of torch.relu "
                "or its kin"
            )

    def _place(self, function: str) -> str:
        return self.watch.names.place(function)

    def _is_gate(self, operation: OpOverload, args: tuple[Any, ...]) -> bool:
        name = _name(operation)
        if any(part in name for part in _NOT_GATES) or not self._on_signal(args):
            return False
        if any(part in name for part in _RELU) or _recurrent_relu(operation, args):
            return True
        # inside another function of torch's, such as softsign with its |x|, these are that function's own
        # affair
        return self.watch.within is None and (
            any(part in name for part in _KIN) or name in ("abs", "abs_") or _clamps_at_zero(name, args)
        )

    def _on_signal(self, args: tuple[Any, ...]) -> bool:
        return (
            bool(args)
            and isinstance(args[0], Tensor)
            and args[0].is_floating_point()
            and self.carried_by(args[0])
        )


def _clamps_at_zero(name: str, args: tuple[Any, ...]) -> bool:
    return name in ("clamp", "clamp_", "clamp_min", "clamp_min_") and len(args) > 1 and args[1] == 0


def _recurrent_relu(operation: OpOverload, args: tuple[Any, ...]) -> bool:
    """cuDNN's recurrent networks are one operation, with a mode: 0 is ReLU."""
    arguments = zip(operation._schema.arguments, args, strict=False)
    return _name(operation) in _RECURRENT and any(
        argument.name == "mode" and value == 0 for argument, value in arguments
    )


def _draws(operation: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether the operation takes random numbers; attention and recurrent networks may, and do not where
    dropout is 0."""
    if torch.Tag.nondeterministic_seeded not in operation.tags:
        return False
    schema = operation._schema.arguments
    given = {argument.name: argument.default_value for argument in schema if argument.has_default_value()}
    given |= {argument.name: value for argument, value in zip(schema, args, strict=False)} | kwargs
    return (
        not any(given.get(name, 1.0) == 0 for name in ("dropout_p", "dropout", "p"))
        and given.get("train", True) is not False
    )


def _name(operation: OpOverload) -> str:
    return operation._schema.name.split("::")[1]


def _plain(operation: OpOverload) -> str:
    """The name as a user would write it."""
    return _name(operation).removeprefix("native_").removesuffix("_with_noise").strip("_")


_OUTERMOST: CodeType = inspect.unwrap(call).__code__
_APPLY: CodeType = torch.autograd.Function.apply.__code__


def check_function(watch: Watch) -> None:
    """Refuses, while one runs, an autograd Function that is not torch's own: what it computes may be
    anything."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code is not _OUTERMOST:
        if frame.f_code is _APPLY and not frame.f_locals["cls"].__module__.startswith("torch."):
            watch.refuse(
                f"{watch.names.place(frame.f_locals['cls'].__name__)} is a custom autograd Function, in "
                "which gates cannot be watched; write it with torch's own functions, torch.relu or its kin"
            )
        frame = frame.f_back
