"""One member after another, each through its own module: for what cannot or need not be stacked."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.func import functional_call

from penstock.training.ways.modes import mode
from penstock.training.ways.stacking import moving, trained
from penstock.training.ways.way import Batch, Named, Slope, Way, write

__all__ = ["Alone"]

# No buffer of a module has a space in its name.
RANDOM = "generator states"


class Alone(Way):
    """The members in turn. Where layers draw random numbers (dropout), each member has a generator state of
    its own, so that it draws what it would draw if it were trained by itself.

    >>> repr(Alone([nn.Linear(2, 1)], seeds=[0], why="there is one member"))
    'Alone: there is one member'
    """

    def __init__(self, models: Sequence[nn.Module], seeds: Sequence[int], why: str, *, draws: bool = False):
        self._models = list(models)
        self._trained, self._moving = trained(models), moving(models)
        device = next(iter(self._trained.values())).device
        self._random = _Randomness(seeds, device) if draws else None
        self.capturable = not draws
        self.why = why

    def parameters(self) -> dict[str, Tensor]:
        return self._trained

    def buffers(self) -> dict[str, Tensor]:
        return self._moving if self._random is None else {**self._moving, RANDOM: self._random.states}

    def outputs(self, parameters: Named, batch: Batch) -> Float[Tensor, "e b *o"]:
        return torch.stack(
            [
                self.run(member, {name: stacked[member] for name, stacked in parameters.items()}, batch)
                for member in range(len(self._models))
            ]
        )

    def gradients(self, parameters: Named, batch: Batch, slope: Slope, into: Named) -> None:
        """Each member's backward pass by itself: through the stack, every gradient would be E times as
        large as what is in it."""
        leaves, outputs = [], []
        for member in range(len(self._models)):
            own = {name: stacked[member].detach().requires_grad_() for name, stacked in parameters.items()}
            leaves.append(own)
            with torch.enable_grad():
                outputs.append(self.run(member, own, batch))
        slopes = slope(torch.stack([each.detach() for each in outputs]))
        for member, own in enumerate(leaves):
            found = torch.autograd.grad(
                outputs[member], list(own.values()), slopes[member], allow_unused=True
            )
            write(found, {name: stacked[member] for name, stacked in into.items()})

    def run(self, member: int, own: dict[str, Tensor], batch: Batch) -> Float[Tensor, "b *o"]:
        model, moving = self._models[member], {name: each[member] for name, each in self._moving.items()}
        with mode(model, training=batch.training), self._drawing(member, batch):
            return functional_call(model, (own, moving), (batch.x[member],))

    def _drawing(self, member: int, batch: Batch) -> AbstractContextManager[None]:
        return self._random.of(member) if self._random is not None and batch.training else nullcontext()


class _Randomness:
    """What the generator of a device would be for each member, had it been seeded for it alone."""

    def __init__(self, seeds: Sequence[int], device: torch.device):
        self._device = device
        self.states = torch.stack([torch.Generator(device).manual_seed(seed).get_state() for seed in seeds])

    @contextmanager
    def of(self, member: int) -> Iterator[None]:
        found = self._get()
        try:
            # torch reads a state from the start of its storage
            self._set(self.states[member].clone())
            yield
            self.states[member] = self._get()
        finally:
            self._set(found)

    def _get(self) -> Tensor:
        return (
            torch.cuda.get_rng_state(self._device) if self._device.type == "cuda" else torch.get_rng_state()
        )

    def _set(self, state: Tensor) -> None:
        if self._device.type == "cuda":
            torch.cuda.set_rng_state(state, self._device)
        else:
            torch.set_rng_state(state)
