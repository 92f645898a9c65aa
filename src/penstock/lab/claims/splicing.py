"""Crossings and splicings of paths (N Definitions B.2 and B.3), and the two lemmas that speak of them.

Definition B.2 counts the intermediate layers l = 2, …, d-1 only. Paths that share a node of hidden layer 1
and no other then do not cross, and both lemmas fail; with the layers 1, …, d-1 both hold. So the first layer
that counts is an argument here.
"""

from functools import cached_property
from itertools import pairwise, permutations, product

from penstock.lab.claims.four_paths import FourPaths

__all__ = ["AS_CORRECTED", "AS_PRINTED", "Splicing"]

AS_PRINTED = 2
"""The first layer whose nodes count as crossings in N Definition B.2 as it is printed."""

AS_CORRECTED = 1
"""The first hidden layer."""

Four = tuple[int, int, int, int]


class Splicing:
    """What can be spliced from two base paths, when crossings count from layer `first` on."""

    def __init__(self, terms: FourPaths, first: int):
        self.terms = terms
        self.first = first
        self.paths = [tuple(nodes) for nodes in terms.nodes.tolist()]
        self.number = {nodes: path for path, nodes in enumerate(self.paths)}
        self.through = terms.through.tolist()

    def crossings(self, a: int, b: int) -> list[int]:
        """The intermediate layers in which paths a and b pass through the same node (N Definition B.2)."""
        layers = range(self.first, self.terms.depth)
        return [layer for layer in layers if self.paths[a][layer] == self.paths[b][layer]]

    @cached_property
    def spliced(self) -> dict[tuple[int, int], set[Four]]:
        """All splicings of (ρ_a, ρ_a, ρ_b, ρ_b), for every pair of base paths (N Definition B.3)."""
        pairs = product(range(len(self.paths)), repeat=2)
        return {(a, b): self._splicings(a, b) for a, b in pairs}

    def without_base(self) -> int:
        """How many terms survive without base paths through θ_a and θ_b: Lemma B.2 says none."""
        bases: dict[Four, list[tuple[int, int]]] = {}
        for pair, splicings in self.spliced.items():
            for four in splicings:
                bases.setdefault(four, []).append(pair)
        missed = 0
        for weight_a, p, p_, weight_b, q, q_ in self.terms.survivors().tolist():
            a, b = self.through[weight_a], self.through[weight_b]
            missed += not any(a[i] and b[j] for i, j in bases.get((p, p_, q, q_), []))
        return missed

    def surviving_without_crossing(self) -> int:
        """How many terms survive that are spliced from paths without a crossing: Lemma B.3 says none."""
        surviving = {tuple(term) for term in self.terms.survivors().tolist()}
        apart = [pair for pair in self.spliced if not self.crossings(*pair)]
        return sum(
            (weight_a, p, p_, weight_b, q, q_) in surviving
            for a, b in apart
            for p, p_, q, q_ in self.spliced[a, b] - {(a, a, b, b)}
            for weight_a in self._weights(a)
            for weight_b in self._weights(b)
        )

    def pairs_without_crossing(self) -> int:
        """The pairs of base paths that Lemma B.3 speaks about."""
        return sum(not self.crossings(*pair) for pair in self.spliced)

    def _weights(self, path: int) -> list[int]:
        return self.terms.weights[path].tolist()

    def _splicings(self, a: int, b: int) -> set[Four]:
        cuts = [0, *self.crossings(a, b), self.terms.depth]
        base = (self.paths[a], self.paths[b])
        orders = sorted(set(permutations((0, 0, 1, 1))))
        found: set[Four] = set()
        for chosen in product(orders, repeat=len(cuts) - 1):
            four = tuple(
                self.number[self._walk([base[order[k]] for order in chosen], cuts)] for k in range(4)
            )
            found.add(four)  # pyright: ignore[reportArgumentType]
        return found

    @staticmethod
    def _walk(followed: list[tuple[int, ...]], cuts: list[int]) -> tuple[int, ...]:
        """The path that follows a base path from each cut to the next."""
        nodes = [followed[0][0]]
        for base, (start, end) in zip(followed, pairwise(cuts), strict=True):
            nodes += base[start + 1 : end + 1]
        return tuple(nodes)
