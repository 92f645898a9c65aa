"""D Section 4, Figure 9: a circular convolutional network has d_in ŵ^(d-1) paths in bundles of d_in with one strength."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.lab.claims.claim import Claim, Evidence, Run, Scale, Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["claim"]

FIGURE_9 = (3, 2, 3)
"""Positions, kernel and convolutions of the paper's figure."""


@dataclass(frozen=True)
class Settings:
    cases: int = 12
    """Random sizes beside those of the figure."""
    seed: int = 0
    """Where sizes and weights start from."""


def run(settings: Settings, run: Run) -> Evidence:
    from penstock.lab.models.random_sizes import random_integer, seeded

    sizes = [FIGURE_9]
    for case in range(settings.cases):
        generator = seeded(settings.seed, case)
        positions = random_integer(generator, 2, 5)
        sizes.append((positions, random_integer(generator, 1, positions), random_integer(generator, 1, 4)))
    found = [_bundles(size, settings.seed) for size in run.progress(sizes, "circular networks")]
    figure = found[0]
    return {
        "networks": len(found),
        "paths": figure["paths"],
        "strengths": figure["strengths"],
        "bundle": figure["smallest"],
        "wrong": sum(not _as_counted(size, one) for size, one in zip(sizes, found, strict=True)),
        "with_power_d": sum(one["paths"] == size[0] * size[1] ** (size[2] + 2) for size, one in zip(sizes, found, strict=True)),
    }


def _bundles(size: tuple[int, int, int], seed: int) -> dict[str, Any]:
    """Listed paths, put together where they have one value."""
    import torch

    from penstock import count_paths, npf, npv
    from penstock.lab.models.circular import CircularNetwork
    from penstock.lab.models.initialization import Gaussian
    from penstock.lab.models.random_sizes import seeded

    positions, kernel, convolutions = size
    model = CircularNetwork(positions, kernel, convolutions, Gaussian(1.0), seeded(seed, *size))
    values, order = npv(model, input_shape=(1, positions)).sort()
    # Gaussian weights give every string of weights a product of its own
    new = (values.diff() / values.abs().max()).abs() > 1e-12
    bundle = torch.cat([new.new_zeros(1), new]).cumsum(0)
    sizes = torch.bincount(bundle)
    starts = _starts(model, positions)[order]
    return {
        "paths": count_paths(model, input_shape=(1, positions)),
        "listed": len(values),
        "strengths": len(sizes),
        "smallest": int(sizes.min()),
        "largest": int(sizes.max()),
        # a bundle is one path from every position: its rotations
        "rotations": all(len(starts[bundle == k].unique()) == positions for k in range(len(sizes))),
    }


def _as_counted(size: tuple[int, int, int], one: dict[str, Any]) -> bool:
    """Whether the listing is what the paper says, with d - 1 the number of convolutions."""
    positions, kernel, convolutions = size
    strengths = kernel**convolutions
    return (
        one["paths"] == one["listed"] == positions * strengths
        and one["strengths"] == strengths
        and one["smallest"] == one["largest"] == positions
        and one["rotations"]
    )
