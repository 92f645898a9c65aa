"""D Section 4, Figure 9: a circular convolutional network has d_in ŵ^(d-1) paths, in bundles of d_in."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.lab.claims.claim import Claim, Evidence, Run, Scale, Verdict
from penstock.lab.claims.least import check_least

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from torch import Tensor

__all__ = ["claim"]

FIGURE_9 = (3, 2, 3)
"""Positions, kernel and convolutions of the paper's figure."""


@dataclass(frozen=True)
class Settings:
    networks: int = 6
    """Random sizes beside those of the figure."""
    seed: int = 0
    """Where sizes and weights start from."""

    def __post_init__(self):
        check_least(self, networks=0)


def run(settings: Settings, run: Run) -> Evidence:
    from penstock.lab.models.random_sizes import random_integer, seeded

    sizes: list[tuple[int, int, int]] = [FIGURE_9]
    for number in range(settings.networks):
        generator = seeded(settings.seed, number)
        positions = random_integer(generator, 2, 5)
        sizes.append((positions, random_integer(generator, 1, positions), random_integer(generator, 1, 4)))
    found = [_listed(size, settings.seed) for size in run.progress(sizes, "circular networks")]
    wrong = [size for size, one in zip(sizes, found, strict=True) if not _as_claimed(size, one)]
    figure = found[0]
    return {
        "networks": len(found),
        "networks_miscounted": len(wrong),
        "networks_where_d_counts_convolutions": sum(
            one["paths"] == size[0] * size[1] ** (size[2] - 1)
            for size, one in zip(sizes, found, strict=True)
            if size[1] > 1
        ),
        **{
            name: figure[name]
            for name in ("paths", "strengths", "largest_bundle", "shown_paths", "shown_bundles")
        },
    }


def _listed(size: tuple[int, int, int], seed: int) -> dict[str, Any]:
    """A network's paths, bundled by the string of their weights, and by their strength."""
    import torch

    from penstock import count_paths, list_paths, npv
    from penstock.lab.models.circular import CircularNetwork
    from penstock.lab.models.initialization import Gaussian
    from penstock.lab.models.random_sizes import seeded

    positions, kernel, convolutions = size
    model = CircularNetwork(positions, kernel, convolutions, Gaussian(1.0), seeded(seed, *size))
    paths = list_paths(model, input_shape=(1, positions))
    strength = npv(model, input_shape=(1, positions))
    strings = [tuple(map(str, path.weights)) for path in paths]
    number = {string: bundle for bundle, string in enumerate(sorted(set(strings)))}
    bundle = torch.tensor([number[string] for string in strings])
    sizes = torch.bincount(bundle)
    members = [(bundle == k).nonzero()[:, 0] for k in range(len(sizes))]
    return {
        "paths": len(paths),
        "counted": count_paths(model, input_shape=(1, positions)),
        "bundles": len(sizes),
        "smallest_bundle": int(sizes.min()),
        "largest_bundle": int(sizes.max()),
        # Gaussian weights give every string a product of its own, and rounding does not split a bundle
        "strengths": _different(strength),
        "one_strength_a_bundle": all(_different(strength[paths_of]) == 1 for paths_of in members),
        "one_path_from_every_position": all(
            {paths[path][0] for path in paths_of.tolist()} == set(range(positions)) for paths_of in members
        ),
        "shown_paths": torch.tensor([path[: convolutions + 1] for path in paths]),
        "shown_bundles": bundle,
    }


def _different(values: "Tensor") -> int:
    """How many different numbers there are, rounding aside."""
    gaps = values.sort().values.diff() / values.abs().max()
    return 1 + int((gaps > 1e-12).sum())


def _as_claimed(size: tuple[int, int, int], one: dict[str, Any]) -> bool:
    """Whether the listing is what the paper says, with d - 1 the number of convolutions."""
    positions, kernel, convolutions = size
    strengths = kernel**convolutions
    return (
        one["paths"] == one["counted"] == positions * strengths
        and one["strengths"] == one["bundles"] == strengths
        and one["smallest_bundle"] == one["largest_bundle"] == positions
        and one["one_strength_a_bundle"]
        and one["one_path_from_every_position"]
    )


def judge(evidence: Evidence) -> Verdict:
    figure = evidence["paths"], evidence["strengths"], evidence["largest_bundle"]
    holds = (
        figure == (24, 8, 3)
        and evidence["networks_miscounted"] == 0
        and evidence["networks_where_d_counts_convolutions"] == 0
    )
    ours = (
        f"Figure 9: {figure[0]} paths, {figure[1]} strengths, bundles of {figure[2]}; d_in ŵ^(d-1), ŵ^(d-1) "
        f"and d_in in {evidence['networks'] - evidence['networks_miscounted']} of {evidence['networks']} "
        "networks, d being the number of convolutions + 1"
    )
    return Verdict.when(holds, ours)


def draw(evidence: Evidence) -> "Figure":
    from penstock.lab.report.ring import draw_bundles

    positions, kernel, _ = FIGURE_9
    return draw_bundles(positions, kernel, evidence["shown_paths"], evidence["shown_bundles"])


claim = Claim(
    id="D20",
    paper="D",
    place="Section 4, Figure 9",
    kind="exact",
    says=(
        "A circular convolutional network with pooling has d_in ŵ^(d-1) paths of only ŵ^(d-1) different "
        "strengths: the rotations of a path, one from every input node, are a bundle of d_in."
    ),
    printed=(
        "d_in ŵ^(d-1) paths, ŵ^(d-1) strengths, bundles of d_in; 8 strengths for d_in = 3, ŵ = 2 in Figure 9"
    ),
    scales={
        "smoke": Scale(
            settings=Settings(),
            rule=(
                "Listed: the network of Figure 9 (three convolutions and the mean, so d is 4) has 24 paths, "
                "8 strengths and bundles of 3; in every random network the numbers are those claimed, each "
                "bundle one strength and one path from every position; with d the number of convolutions "
                "alone none would be."
            ),
            judge=judge,
        )
    },
    run=run,
    draw=draw,
)
