"""The pass itself: a module run under the watch, and the shadow of its output."""

from typing import Any

import torch
from jaxtyping import Float, Float64
from torch import Tensor, nn
from torch._C._functorch import is_functorch_wrapped_tensor  # pyright: ignore[reportMissingImports]

from penstock.errors import PenstockError
from penstock.gates.choice import Pooling
from penstock.gates.kind import Kind
from penstock.gates.unseen import check_function
from penstock.model import check_output, describe, eager, left_as_found
from penstock.model.calling import check_arguments, misfits_told
from penstock.paths.onepass.carrying import Carrying, Measuring
from penstock.paths.onepass.measures import Measure, Reach
from penstock.paths.onepass.shadows import Unreadable

__all__ = ["check_apart", "passed"]

# They take numbers out of a tensor where no operation is seen.
_ESCAPES = (Tensor.numpy, Tensor.tolist, Tensor.__array__, Tensor.__dlpack__)


def passed(
    model: nn.Module, batch: Float[Tensor, "n *shape"], measure: Measure
) -> Float64[Tensor, "n *outputs"]:
    """What the measure gives for the paths to every output, of each example."""
    seeds = torch.ones(batch.shape, dtype=torch.float64, device=batch.device)
    return _Pass(model, measure).shadow(batch, seeds)


def check_apart(model: nn.Module, batch: Float[Tensor, "n *shape"]) -> None:
    """Refuses a module in which some path leads from one example to the output of another."""
    if len(batch) < 2:
        return
    try:
        reached = _reached(model, batch[:2])
    except PenstockError:
        # a module for this number of examples and no other
        reached = _reached(model, batch)
    if reached[1:].any():
        raise PenstockError(
            f"{describe('', model)} mixes the examples of a batch: paths lead from one to the output of "
            "another; make each row of its output depend on one row of its input"
        )


def _reached(model: nn.Module, batch: Tensor) -> Tensor:
    seeds = torch.zeros(batch.shape, dtype=torch.float64, device=batch.device)
    seeds[0] = 1
    return _Pass(model, Reach()).shadow(batch, seeds)


class _Pass(Measuring):
    """One run of a module."""

    below = Carrying

    def shadow(
        self, batch: Float[Tensor, "n *shape"], seeds: Float64[Tensor, "n *shape"]
    ) -> Float64[Tensor, "n *outputs"]:
        """The shadow of the output, for this one of the input."""
        check_arguments(self.model)
        # a copy that nothing else looks at: the module may write into its input
        batch = batch.clone()
        with (
            left_as_found(self.model),
            torch.no_grad(),
            eager(),
            self.following(),
            misfits_told(self.model, batch),
        ):
            carrying = self._carrying
            carrying.shadows.put(batch, self.measure.numbers.of(seeds))
            y = self.model(batch)
        # where all gates are open the numbers themselves do not matter, and may overflow
        finite = isinstance(y, Tensor) and not self.measure.reads_gates
        check_output(self.model, y.nan_to_num() if finite else y, len(batch))
        if not carrying.carried_by(y):
            raise PenstockError(
                f"{describe('', self.model)} returns what does not depend on its input, so no path leads "
                "there; give a module that reads its input"
            )
        found = carrying.shadow_of(y)
        if isinstance(found, Unreadable):
            raise PenstockError(found.reason)
        return found

    @property
    def _carrying(self) -> Carrying:
        assert isinstance(self.dependence, Carrying)
        return self.dependence

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if function in _ESCAPES and not self.explaining:
            outer, self.within = self.within, function
            self._carrying.check_escape(args[0])
            self.within = outer
        return super().__torch_function__(function, types, args, kwargs)

    def on_other(self, function: object) -> None:
        check_function(self)

    def on_call(self, name: str, kind: Kind, q: Float[Tensor, "*shape"]) -> Tensor:
        check_function(self)
        if is_functorch_wrapped_tensor(q):
            self.refuse(
                f"the call {self.names.place(name)} is made inside torch.func (vmap, grad or their kin), "
                "where one call stands for many; write the model on whole batches"
            )
        carrying = self._carrying
        with carrying.aside():
            pattern = kind.read(q)
            y = kind.apply(q, pattern)
            shadow = carrying.shadow_of(q)
            if isinstance(shadow, Tensor):
                shadow = self.measure.gated(kind, q, pattern, shadow)
            carrying.shadows.put(y, shadow)
        return y

    def held_indices(self, name: str, kind: Pooling, q: Float[Tensor, "*shape"]) -> Tensor:
        with self._carrying.aside():
            return kind.places(q, kind.read(q))
