"""Watching a module: every ReLU-like call is seen as it happens.

A `TorchFunctionMode` is handed every call of a torch function, in module, functional, method or in-place
form. It needs no graph, so it reads any module, also one whose control flow depends on the data, and it works
under `functional_call`, `grad` and `vmap`. What it cannot see stands in `unseen.py`.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NoReturn

from jaxtyping import Float
from torch import Tensor, nn
from torch.overrides import (
    TorchFunctionMode,
    _get_current_function_mode_stack,
    _pop_mode_temporarily,
)
from torch.utils._python_dispatch import _disable_current_modes

from penstock.errors import PenstockError
from penstock.gates.calls import Call, is_activation, reading_of
from penstock.gates.choice import Pooling
from penstock.gates.kind import Kind
from penstock.gates.naming import Names

__all__ = ["Watch", "unwatched"]


class Watch(TorchFunctionMode):
    """While this is active, every ReLU-like call of `model` is handed to `on_call`.

    A subclass says in `on_call` what happens: it looks and leaves the call as it is (None), or returns what
    takes the place of the call's output. An in-place call stays one: what is returned is written into the
    tensor that the call was made on, so that every alias sees it.

    >>> class Print(Watch):
    ...     def on_call(self, name, kind, q):
    ...         print(name, kind)
    >>> model = nn.Sequential(nn.Linear(2, 3), nn.LeakyReLU(0.1))
    >>> with Print(model):
    ...     y = model(torch.ones(1, 2))
    1 LeakyReLU 0.1
    """

    def __init__(self, model: nn.Module):
        super().__init__()
        self.names = Names(model)
        self.explaining = False
        """Whether what torch runs at this moment belongs to a watched call."""
        self.within: Any = None
        """The function of torch that is being called and is not ReLU-like itself."""
        self.asked: Call
        """The call that `on_call` is asked about."""
        self.refusal: PenstockError | None = None
        """What was refused meanwhile, in case the model has caught it or torch has put an error of its own in
        its place."""

    def on_call(self, name: str, kind: Kind, q: Float[Tensor, "n *shape"]) -> Tensor | None:
        """What comes out of one call: None leaves it as it is."""
        raise NotImplementedError

    def held_indices(self, name: str, kind: Pooling, q: Float[Tensor, "n *shape"]) -> Tensor:
        """Where a replaced max-pooling found its maxima, for a call that asks for them."""
        raise PenstockError(
            f"{name} returns the places of its maxima, which cannot be replaced; leave return_indices out"
        )

    def is_signal(self, q: Tensor) -> bool:
        """Whether a tensor depends on the input; a ReLU of weights alone is no gate."""
        return True

    def refuse(self, sentence: str) -> NoReturn:
        """Stops the run, and keeps the reason."""
        self.refusal = PenstockError(sentence)
        raise self.refusal

    def on_other(self, function: Any) -> None:
        """Called before every function that is not ReLU-like."""

    def __enter__(self):
        self.names.restart()
        self.refusal = None
        return super().__enter__()

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if self.explaining:
            return function(*args, **kwargs)
        reading = reading_of(function)
        call = None if reading is None else reading.read(args, kwargs)
        if reading is None or call is None:
            return self._other(function, args, kwargs)
        self.explaining = True
        try:
            y = self._asked(call)
            return function(*args, **kwargs) if y is None else y
        finally:
            self.explaining = False

    def _asked(self, call: Call) -> Any:
        """What `on_call` puts in the place of a call, or None where the call stays as it is."""
        kind, q = call.kind, call.q
        if kind is None or not q.is_floating_point() or not self.is_signal(q):
            return None
        path, layer = self.names.layer()
        alone = bool(path) and layer is not None and is_activation(layer)
        name = self.names.give(path if alone else f"{path}.{call.function}" if path else call.function)
        self.asked = call
        y = self.on_call(name, kind, q)
        if y is None:
            return None
        # the places first: writing in place would change what they are found from
        places = self.held_indices(name, kind, q) if isinstance(kind, Pooling) and call.indices else None
        if call.inplace:
            y = q.copy_(y)
        elif call.out is not None:
            y = call.out.resize_(y.shape).copy_(y)
        return y if places is None else (y, places)

    def _other(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.on_other(function)
        outer, self.within = self.within, function
        try:
            return function(*args, **kwargs)
        finally:
            self.within = outer


@contextmanager
def unwatched() -> Iterator[None]:
    """Inside, no watch sees anything: for a run that is nobody's business, such as a rehearsal."""
    others = [mode for mode in _get_current_function_mode_stack() if not isinstance(mode, Watch)]
    with ExitStack() as outside:
        for _ in _get_current_function_mode_stack():
            outside.enter_context(_pop_mode_temporarily())
        outside.enter_context(_disable_current_modes())
        for mode in others:
            outside.enter_context(mode)
        yield
