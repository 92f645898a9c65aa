"""The terms of E[K²] one by one (N Appendix B.1.2), on networks tiny enough that all ±σ weights can be tried.

A term has an index τ = (p_a, p'_a, p_b, p'_b; θ_a, θ_b): four paths and two weights. Its expectation E(τ) =
E[∂_a v(p_a) ∂_a v(p'_a) ∂_b v(p_b) ∂_b v(p'_b)] is found here by enumeration, and beside it stand what the
paper says of it: the product over layers (21), the two conditions of Proposition B.5, the layouts of Figure
4.

Tensors over τ have the axes θ_a, p_a, p'_a, θ_b, p_b, p'_b.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise, product

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from penstock.errors import PenstockError

__all__ = ["LAYOUTS", "TABLE_3", "FourPaths"]

LAYOUTS = "abcd"
"""N Figure 4: four paths on one weight (a); two and two, from one node (b), to one node (c), apart (d)."""

TABLE_3 = {"a": "ab", "b": "cd", "c": "ab", "d": "cd"}
"""N Table 3: the layouts that may follow in the next layer."""

MOST_WEIGHTS = 16


class FourPaths:
    """The terms of E[K²] of a fully connected network without biases, whose weights are fair ±σ."""

    def __init__(self, widths: Sequence[int], sigma: float):
        self.widths = tuple(widths)
        self.sigma = sigma
        self.depth = len(widths) - 1
        if self.widths[-1] != 1 or self.depth < 2:
            raise PenstockError(
                f"the terms are those of a network with hidden layers and one output, not {widths}"
            )
        sizes = [above * below for below, above in pairwise(widths)]
        if sum(sizes) > MOST_WEIGHTS:
            raise PenstockError(
                f"{sum(sizes)} weights have too many signs to try; take {MOST_WEIGHTS} or fewer"
            )
        self.layer_of = torch.repeat_interleave(torch.arange(self.depth), torch.tensor(sizes))
        """The layer of every weight, counted from 0."""
        self.nodes = torch.tensor(list(product(*(range(width) for width in widths))))
        """The nodes of every path, paths × (d + 1), in the order of N Figure 1."""
        starts = torch.tensor([0, *sizes[:-1]]).cumsum(0)
        self.weights = starts + self.nodes[:, 1:] * torch.tensor(widths[:-1]) + self.nodes[:, :-1]
        """The weights of every path, paths × d; numbered as the layers' matrices hold them."""

    @cached_property
    def signs(self) -> Float[Tensor, "draws weights paths"]:
        """The sign of ∂_θ v(p), or 0, for every choice of the weights' signs (N Proposition B.1)."""
        draws = torch.tensor(list(product((-1.0, 1.0), repeat=len(self.layer_of))), dtype=torch.float64)
        found = torch.zeros(len(draws), len(self.layer_of), len(self.nodes), dtype=torch.float64)
        for layer in range(self.depth):
            others = [other for other in range(self.depth) if other != layer]
            found[:, self.weights[:, layer], torch.arange(len(self.nodes))] = draws[
                :, self.weights[:, others]
            ].prod(-1)
        return found

    @cached_property
    def gradients(self) -> Float[Tensor, "draws weights paths"]:
        """∂_θ v(p) for every choice of signs."""
        return self.sigma ** (self.depth - 1) * self.signs

    @cached_property
    def expectation(self) -> Float[Tensor, "a p p b p p"]:
        """E(τ) (N Definition B.1), the mean over all choices of signs; a zero is one exactly."""
        pairs = torch.einsum("nap,naq->napq", self.signs, self.signs).flatten(1)
        weights, paths = len(self.layer_of), len(self.nodes)
        mean = pairs.T @ pairs / len(pairs)
        return self.largest * mean.view(weights, paths, paths, weights, paths, paths)

    @cached_property
    def through(self) -> Bool[Tensor, "weights paths"]:
        """Which path passes through which weight."""
        found = torch.zeros(len(self.layer_of), len(self.nodes), dtype=torch.bool)
        return found.index_put_(
            (self.weights.T, torch.arange(len(self.nodes)).expand(self.depth, -1)), torch.tensor(True)
        )

    def condition_i(self) -> Bool[Tensor, "a p p b p p"]:
        """p_a and p'_a pass through θ_a, p_b and p'_b through θ_b (N Proposition B.5)."""
        both = self.through[:, :, None] & self.through[:, None, :]
        return both[..., None, None, None] & both

    def condition_ii(self) -> Bool[Tensor, "p p p p"]:
        """In every layer the four paths take one weight, or two weights two and two (N Proposition B.5)."""
        return torch.stack([self._paired(layer) for layer in range(self.depth)]).all(dim=0)

    def formula_21_as_printed(self) -> Float[Tensor, "a p p b p p"]:
        """(21): Term-I over the layers other than l_a and l_b, times Term-II at l_b and Term-III at l_a.

        Meant where Condition I holds.
        """
        return self._formula_21(also_in_one_layer=True)

    def formula_21_as_corrected(self) -> Float[Tensor, "a p p b p p"]:
        """(21) without Terms II and III where θ_a and θ_b belong to one layer: no weight of it is left."""
        return self._formula_21(also_in_one_layer=False)

    def same_layer(self) -> Bool[Tensor, "a b"]:
        """Which pairs of weights belong to one layer."""
        return self.layer_of[:, None] == self.layer_of[None, :]

    def layout(self, paths: Sequence[int], layer: int) -> str:
        """How four paths that are paired pass through a layer: a, b, c or d of N Figure 4."""
        if len({int(self.weights[path, layer]) for path in paths}) == 1:
            return "a"
        below = len({int(self.nodes[path, layer]) for path in paths})
        above = len({int(self.nodes[path, layer + 1]) for path in paths})
        return {(1, 2): "b", (2, 1): "c", (2, 2): "d"}[below, above]

    def survivors(self) -> Int[Tensor, "terms 6"]:
        """The indices τ with E(τ) ≠ 0."""
        return self.expectation.nonzero()

    @property
    def largest(self) -> float:
        """σ^(4(d-1)), what a term that survives is worth."""
        return self.sigma ** (4 * (self.depth - 1))

    def _formula_21(self, also_in_one_layer: bool) -> Tensor:
        weights, paths = len(self.layer_of), len(self.nodes)
        found = torch.zeros(weights, paths, paths, weights, paths, paths, dtype=torch.float64)
        for a, b in product(range(self.depth), repeat=2):
            value = torch.ones(paths, paths, paths, paths, dtype=torch.float64)
            for layer in set(range(self.depth)) - {a, b}:
                value = value * self._paired(layer) * self.sigma**4
            if a != b or also_in_one_layer:
                value = value * self._together(b)[:, :, None, None] * self.sigma**2
                value = value * self._together(a)[None, None, :, :] * self.sigma**2
            here = (self.layer_of == a)[:, None] & (self.layer_of == b)[None, :]
            found += torch.einsum("ab,pqrs->apqbrs", here.double(), value)
        return found

    def _together(self, layer: int) -> Bool[Tensor, "p p"]:
        """Which pairs of paths take the same weight of this layer: E[ΘΘ'] is σ² for these, 0 for others."""
        taken = self.weights[:, layer]
        return taken[:, None] == taken[None, :]

    def _paired(self, layer: int) -> Bool[Tensor, "p p p p"]:
        """Where the mean of the four weights' product is σ⁴: each is taken an even number of times."""
        same = self._together(layer)
        return (
            same[:, :, None, None] & same[None, None, :, :]
            | same[:, None, :, None] & same[None, :, None, :]
            | same[:, None, None, :] & same[None, :, :, None]
        )
