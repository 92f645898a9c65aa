"""Below the watch: every operation on a signal, and beside it the same on shadows."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jaxtyping import Float64
from torch import Tensor, nn
from torch._ops import OpOverload

from penstock.gates.following import Following
from penstock.gates.unseen import Unseen
from penstock.paths.onepass.applied import Applied, NotAffine, Signal, base_name, named
from penstock.paths.onepass.measures import Held, Measure
from penstock.paths.onepass.rules import rule_for
from penstock.paths.onepass.shadows import Shadows, Unreadable, memory_of

__all__ = ["Carrying", "Measuring"]

# They take a signal for its shape, dtype or device alone.
_SHAPE_ALONE = {
    *("zeros_like", "ones_like", "full_like", "empty_like"),
    *("new_zeros", "new_ones", "new_full", "new_empty", "new_empty_strided"),
}
# They change how a tensor looks at its memory, and not what is in it.
_LOOKS_ALONE = {"t", "transpose", "squeeze", "unsqueeze", "as_strided", "detach", "swapaxes", "swapdims"}
_LITERAL = ("lift", "lift_fresh")
_NUMBER = "_local_scalar_dense"
_NO_PATH = (
    "is not affine in the input, so no path is known to lead through it; leave it out of the module that is "
    "asked about"
)


class Measuring(Following):
    """A watch with shadows below it. `measure` says what they count."""

    def __init__(self, model: nn.Module, measure: Measure):
        super().__init__(model)
        self.measure = measure


class Carrying(Unseen):
    """Carries shadows along."""

    def __init__(self, watch: Measuring, model: nn.Module):
        super().__init__(watch, model)
        self.measure = watch.measure
        self.shadows = Shadows(self.measure.numbers.none)
        self._learnt = {memory_of(parameter) for parameter in model.parameters()}
        self._shaped: set[int] = set()
        self._aside = False

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Inside, what torch runs is ours and no operation of the module."""
        outer, self._aside = self._aside, True
        try:
            yield
        finally:
            self._aside = outer

    def shadow_of(self, tensor: Tensor) -> Float64[Tensor, "..."] | Unreadable:
        """What leads to a signal; for a tensor of unknown origin, that it is not known."""
        shadow = self.shadows.of(tensor)
        if shadow is None:
            return Unreadable(
                f"{self._called('a tensor')} comes from where it cannot be followed; compute it with torch "
                "from the input, or keep it as a parameter, a buffer or an attribute of a layer"
            )
        return shadow

    def __torch_dispatch__(
        self, operation: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if self._aside or not isinstance(operation, OpOverload):
            return (
                operation(*args, **kwargs)
                if self._aside
                else super().__torch_dispatch__(operation, types, args, kwargs)
            )
        name, given = base_name(operation), named(operation, args, kwargs)
        if name in _LITERAL:
            self._hold(iter(_tensors(given)))
        read = list(_tensors(given))
        if not any(map(self.carried_by, read)):
            result = super().__torch_dispatch__(operation, types, args, kwargs)
            self._learn(read, result)
            return result
        if name == _NUMBER:
            self.check_escape(given["self"])
        applied = Applied(operation, self._terms(operation, given), self.measure)
        before = self._begun(operation, given)
        result = super().__torch_dispatch__(operation, types, args, kwargs)
        for tensor, shadow in before:
            self.shadows.begin(tensor, shadow)
        self._take(name, applied, given, result)
        return result

    def _on_signal(self, args: tuple[Any, ...]) -> bool:
        # what is drawn into a tensor of the signal's shape is drawn for the signal
        shaped = bool(args) and isinstance(args[0], Tensor) and memory_of(args[0]) in self._shaped
        return shaped or super()._on_signal(args)

    def _learn(self, read: list[Tensor], result: Any) -> None:
        """What is computed from something learnt is learnt."""
        if any(memory_of(tensor) in self._learnt for tensor in read):
            self._learnt |= {memory_of(tensor) for tensor in _tensors(result)}

    def _terms(self, operation: OpOverload, given: dict[str, Any]) -> dict[str, Any]:
        written = {argument.name for argument in operation._schema.arguments if argument.is_write}
        return {name: self._term(value, keep=name in written) for name, value in given.items()}

    def _term(self, value: Any, keep: bool) -> Any:
        if isinstance(value, tuple | list):
            return [self._term(each, keep) for each in value]
        if not isinstance(value, Tensor):
            return value
        if not self.carried_by(value):
            learnt = memory_of(value) in self._learnt
            return Held(value.clone() if keep else value, learnt)
        shadow = self.shadow_of(value) if self._is_known(value) else None
        if shadow is None:
            # indices and masks that are no part of the model are nobody's signal
            return Held(value)
        return Signal(shadow) if isinstance(shadow, Tensor) else shadow

    def _is_known(self, value: Tensor) -> bool:
        return value.is_floating_point() or value in self.shadows

    def _begun(self, operation: OpOverload, given: dict[str, Any]) -> list[tuple[Tensor, Tensor]]:
        """The shadows of held memory that a signal is about to be written into, from what is there now."""
        begun = []
        for argument in operation._schema.arguments:
            tensor = given.get(argument.name)
            if argument.is_write and isinstance(tensor, Tensor) and not self.carried_by(tensor):
                entries = tensor.untyped_storage().nbytes() // tensor.element_size()
                every = tensor.as_strided((entries,), (1,), 0)
                held = Held(every, memory_of(tensor) in self._learnt)
                begun.append((tensor, self.measure.entry(held).clone()))
        return begun

    def check_escape(self, tensor: Tensor) -> None:
        """A number of the signal's, out in Python, cannot be followed any further; a decision can, where the
        inputs are there that it is made for."""
        if not self.carried_by(tensor):
            return
        if tensor.is_floating_point():
            self.watch.refuse(
                f"the call of {self._called('item')} takes numbers out of what depends on the input, and no "
                "path can be followed through them; keep them tensors"
            )
        if not self.measure.decides:
            self.watch.refuse(
                f"the call of {self._called('item')} decides by the input what to compute, so that there are "
                "no paths before there is an input; count those of given ones, with penstock.active_paths"
            )

    def _take(self, name: str, applied: Applied, given: dict[str, Any], result: Any) -> None:
        """Gives what an operation has made its shadow."""
        made = list(_tensors(result))
        if name in _SHAPE_ALONE:
            self._hold(iter(made))
            self._shaped |= set(map(memory_of, made))
            return
        mutable = applied.operation._schema.is_mutable
        if mutable and name in _LOOKS_ALONE:
            return
        if mutable:
            names = [argument.name for argument in applied.operation._schema.arguments if argument.is_write]
            made = [tensor for each in names for tensor in _tensors(given.get(each))]
        elif all(tensor in self.shadows for tensor in made):
            # views, whose memory has its shadow
            return
        first, *others = made
        self.shadows.put(first, self._shadow(name, applied, first))
        for tensor in others:
            self.shadows.put(tensor, self._refusal(_NO_PATH))

    def _shadow(self, name: str, applied: Applied, made: Tensor) -> Tensor | Unreadable:
        unreadable = applied.unreadable()
        if unreadable is not None:
            return unreadable
        rule = rule_for(name)
        if rule is None or not made.is_floating_point():
            return self._refusal(_NO_PATH)
        try:
            return rule(applied).expand(made.shape)
        except NotAffine as reason:
            return self._refusal(str(reason))

    def _refusal(self, reason: str) -> Unreadable:
        return Unreadable(f"the call of {self._called('an operation')} {reason}")

    def _called(self, otherwise: str) -> str:
        name = getattr(self.watch.within, "__name__", "").strip("_")
        return self.watch.names.place(name or otherwise)


def _tensors(given: Any) -> Iterator[Tensor]:
    if isinstance(given, Tensor):
        yield given
    elif isinstance(given, dict):
        for each in given.values():
            yield from _tensors(each)
    elif isinstance(given, tuple | list):
        for each in given:
            yield from _tensors(each)
