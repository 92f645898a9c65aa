"""What depends on the input, and what is held.

A network may take the ReLU of a weight (a layer kept positive, a mask), and that opens no gate for any
example. So storage is followed below the watch, operation by operation: parameters, buffers and everything
computed from these alone are held. All else counts as signal, also what comes from where this cannot see.
"""

from collections.abc import Iterator
from typing import Any

from torch import Tensor, nn
from torch._ops import OpOverload
from torch.utils._python_dispatch import TorchDispatchMode

from penstock.gates.watch import Watch
from penstock.model import layers

__all__ = ["Dependence"]


class Dependence(TorchDispatchMode):
    """Beside a watch: follows which storage holds numbers that depend on nothing but the model."""

    # structured control flow (torch.cond) is handed over as one operation
    supports_higher_order_operators = True

    def __init__(self, watch: Watch, model: nn.Module):
        super().__init__()
        self.watch = watch
        # A storage is kept alive while it is known, so that no other can take its place in memory.
        self._held: dict[int, Any] = {}
        self._hold(_own_tensors(model))

    def carried_by(self, tensor: Tensor) -> bool:
        """Whether a tensor's numbers depend on the input, as far as anybody can know."""
        try:
            return tensor.untyped_storage()._cdata not in self._held
        except NotImplementedError:
            return True

    def on_operation(self, operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Called before every operation."""

    def __torch_dispatch__(
        self, operation: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        self.on_operation(operation, args, kwargs)
        held = not any(self.carried_by(tensor) for tensor in _tensors((*args, *kwargs.values())))
        # what is called from here is this operation once more, and no call of the user's
        outer, self.watch.explaining = self.watch.explaining, True
        try:
            result = operation(*args, **kwargs)
        finally:
            self.watch.explaining = outer
        if held:
            self._hold(_tensors((result,)))
        elif isinstance(operation, OpOverload) and operation._schema.is_mutable:
            self._release(operation, args, kwargs)
        return result

    def _hold(self, tensors: Iterator[Tensor]) -> None:
        for tensor in tensors:
            try:
                storage = tensor.untyped_storage()
            except NotImplementedError:
                continue
            self._held[storage._cdata] = storage

    def _release(self, operation: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """What an operation on the signal writes into carries the signal from then on, and so does all that
        shares its memory."""
        for argument, value in zip(operation._schema.arguments, args, strict=False):
            if argument.is_write:
                self._forget(value)
        for argument in operation._schema.arguments:
            if argument.is_write and argument.name in kwargs:
                self._forget(kwargs[argument.name])

    def _forget(self, value: Any) -> None:
        for tensor in _tensors((value,)):
            try:
                self._held.pop(tensor.untyped_storage()._cdata, None)
            except NotImplementedError:
                continue


def _own_tensors(model: nn.Module) -> Iterator[Tensor]:
    """Parameters, buffers, and tensors that the model keeps without registering them."""
    yield from model.parameters()
    yield from model.buffers()
    for _, module in layers(model):
        yield from _tensors(tuple(vars(module).values()))


def _tensors(values: tuple[Any, ...]) -> Iterator[Tensor]:
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, tuple | list):
            yield from _tensors(tuple(value))
