"""A small network that descends, and what can be asked of it at any time of the way (N Definition 3.3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from penstock import Switches, list_paths, npf, npv
from penstock.lab.claims.jacobian import tangent_kernel

__all__ = ["Descent", "Instant", "ValueStep", "value_step"]


@dataclass(frozen=True)
class Instant:
    """One or more gates flip between `before` and `after`, a millionth of a step apart."""

    before: float
    after: float
    changes_npf: bool
    """Whether `Switches` says of any of them that a feature changes."""


class Descent:
    """Gradient descent on ½Σe² from where the network is (N Proposition 3.2); the weights are lines between
    steps.
    """

    def __init__(
        self,
        model: nn.Sequential,
        x: Float[Tensor, "n d"],
        y: Float[Tensor, "n 1"],
        *,
        steps: int,
        rate: float,
    ):
        self.model, self.x, self.y, self.rate = model, x, y, rate
        self.places = [self._weights()]
        followed = Switches(model, x)
        for _ in range(steps):
            vector_to_parameters(self.places[-1] - rate * self.gradient(), model.parameters())
            self.places.append(self._weights())
            followed.step()
        self.flips = tuple(followed.found)
        self.instants = self._narrowed()

    @property
    def steps(self) -> int:
        return len(self.places) - 1

    def gradient(self) -> Float[Tensor, " weights"]:
        """-Θ̇ = Σ ψ_x e(x), where the model is now."""
        loss = 0.5 * (self.model(self.x) - self.y).square().sum()
        return parameters_to_vector(torch.autograd.grad(loss, list(self.model.parameters())))

    def go_to(self, time: float) -> None:
        step = min(int(time), self.steps - 1)
        place = torch.lerp(self.places[step], self.places[step + 1], time - step)
        vector_to_parameters(place, self.model.parameters())

    def kernel(self, time: float) -> Float[Tensor, "n n"]:
        """K_t."""
        self.go_to(time)
        return tangent_kernel(self.model, self.x)

    def features(self, time: float) -> Float[Tensor, "n paths"]:
        """Φ_t, transposed."""
        self.go_to(time)
        return npf(self.model, self.x)

    def _weights(self) -> Float[Tensor, " weights"]:
        return parameters_to_vector(self.model.parameters()).detach().clone()

    def _narrowed(self) -> list[Instant]:
        """The instants, each a thousandth of the bracket that was found at first: the same search, within
        it.
        """
        instants = []
        for (lo, hi), _ in groupby(self.flips, key=lambda flip: (flip.lo, flip.hi)):
            self.go_to(lo)
            inside = Switches(self.model, self.x)
            self.go_to(hi)
            inside.step()
            for (low, high), flips in groupby(inside.found, key=lambda flip: (flip.lo, flip.hi)):
                before, after = (lo + share * (hi - lo) for share in (low, high))
                instants.append(Instant(before, after, any(flip.changes_npf for flip in flips)))
        return instants


@dataclass(frozen=True)
class ValueStep:
    """How far the values of all paths are, after a step of gradient descent, from where ⟨φ_p, Θ̇⟩ says."""

    gap: float
    gap_without_first_layer: float
    """The same where the first weight of every path is taken to stand still."""


def value_step(descent: Descent, time: float, rate: float) -> ValueStep:
    """v(p) moves by ⟨φ_p, ΔΘ⟩ and what is of second order (Proposition 3.2), with φ_p as Definition 3.1
    says.
    """
    descent.go_to(time)
    model = descent.model
    before, values = [weight.detach().clone() for weight in model.parameters()], npv(model)
    vector_to_parameters(parameters_to_vector(before) - rate * descent.gradient(), model.parameters())
    moved = [after.detach() - weight for after, weight in zip(model.parameters(), before, strict=True)]
    by_layer, change = _terms(list_paths(model), before, moved), npv(model) - values
    return ValueStep(
        float((change - by_layer.sum(1)).abs().max()), float((change - by_layer[:, 1:].sum(1)).abs().max())
    )


def _terms(
    paths: Sequence[Sequence[int]], weights: Sequence[Tensor], moved: Sequence[Tensor]
) -> Float[Tensor, "paths layers"]:
    """For each weight θ of a path, ∂v(p)/∂θ · Δθ: its other weights times how far it moves."""
    terms = []
    for path in paths:
        places = [(layer, path[layer + 1], path[layer]) for layer in range(len(weights))]
        for own in range(len(weights)):
            factors = [(moved if layer == own else weights)[layer][i, j] for layer, i, j in places]
            terms.append(torch.stack(factors).prod())
    return torch.stack(terms).reshape(len(paths), len(weights))
