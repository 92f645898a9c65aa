"""D Section 1: a ReLU network without biases cannot fit the two points (x, 1) and (2x, -1).

Its gates are the same for x and 2x, so φ(2x) = 2φ(x) and the outputs are a and 2a. The loss (a - 1)² + (2a +
1)² has its least value 9/5, at a = -1/5.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.lab.claims.claim import Claim, Evidence, Run, Scale, Verdict
from penstock.lab.claims.least import check_least

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from torch import Generator, Tensor, nn

__all__ = ["claim"]

LEAST = 9 / 5
"""min over a of (a - 1)² + (2a + 1)²."""

CLOSE = 1e-9
"""How near a fit must come to count as there."""


@dataclass(frozen=True)
class Settings:
    cases: int = 8
    """Random widths and points x; a network without biases and one with them is fitted to each."""
    starts: int = 8
    """Starts that a fit may take: from some, all gates are shut or a bend of the loss is no way out."""
    steps: int = 8
    """Steps of L-BFGS from each start, of ten iterations."""
    seed: int = 0
    """Where widths, weights and points start from."""

    def __post_init__(self):
        check_least(self, cases=1, starts=1, steps=1)


def run(settings: Settings, run: Run) -> Evidence:
    import torch

    cases = [_case(settings, case) for case in run.progress(range(settings.cases), "fitting two points")]
    without = torch.stack([one["without"] for one in cases])
    with_biases = torch.stack([one["with_biases"] for one in cases])
    return {
        "cases": settings.cases,
        "features_double": sum(one["doubles"] for one in cases),
        "least_reachable": LEAST,
        "least_reached": min(one["least"] for one in cases),
        "furthest_above": float(without[:, -1].max()) - LEAST,
        "with_biases_at_most": float(with_biases[:, -1].max()),
        "output_at_x": sum(one["output"] for one in cases) / len(cases),
        "losses": without,
        "losses_with_biases": with_biases,
    }


def _case(settings: Settings, case: int) -> dict[str, Any]:
    import torch

    from penstock import npf
    from penstock.lab.models.random_sizes import random_widths, seeded

    generator = seeded(settings.seed, case)
    widths = random_widths(generator, hidden=(3, 6))
    x = torch.randn(1, widths[0], generator=generator, dtype=torch.float64)
    least = float("inf")
    found: dict[str, Any] = {}
    for name, bias in (("without", False), ("with_biases", True)):
        fits = []
        for _ in range(settings.starts):
            model = _network(widths, generator, bias)
            losses = _fit(model, x, settings.steps)
            fits.append((float(losses[-1]), losses, model))
            if not bias:
                least = min(least, float(losses.min()))
            if losses[-1] <= (0 if bias else LEAST) + CLOSE:
                break
        _, found[name], model = min(fits, key=lambda fit: fit[0])
        if not bias:
            # twice an input is exact in binary, so the features double to the last bit
            found["doubles"] = bool(torch.equal(npf(model, 2 * x), 2 * npf(model, x)))
            found["output"] = float(model(x).detach())
    return {**found, "least": least}


def _network(widths: tuple[int, ...], generator: "Generator", bias: bool) -> "nn.Module":
    import torch

    from penstock.lab.models.fully_connected import relu_network
    from penstock.lab.models.initialization import Gaussian

    model = relu_network(widths, Gaussian(1.0), generator, bias=bias)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("bias"):
                parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype))
    return model


def _fit(model: "nn.Module", x: "Tensor", steps: int) -> "Tensor":
    """The loss before every step, and after the last."""
    import torch

    inputs, targets = torch.cat([x, 2 * x]), torch.tensor([1.0, -1.0], dtype=x.dtype)
    optimizer = torch.optim.LBFGS(
        model.parameters(), max_iter=10, line_search_fn="strong_wolfe", tolerance_change=0
    )

    def closure() -> "Tensor":
        optimizer.zero_grad()
        loss = ((model(inputs)[:, 0] - targets) ** 2).sum()
        loss.backward()
        return loss

    losses = []
    for _ in range(steps):
        losses.append(closure().detach())
        optimizer.step(closure)  # pyright: ignore[reportArgumentType]
    return torch.stack([*losses, closure().detach()])


def judge(evidence: Evidence) -> Verdict:
    holds = (
        evidence["features_double"] == evidence["cases"]
        and evidence["least_reached"] >= LEAST - 1e-12
        and evidence["furthest_above"] <= CLOSE
        and evidence["with_biases_at_most"] <= CLOSE
    )
    ours = (
        f"φ(2x) = 2φ(x) to the last bit in {evidence['features_double']} of {evidence['cases']} networks; "
        f"the least loss reached without biases is {evidence['least_reached']:.6f} (derived: 9/5), with "
        f"biases every fit ends below {max(evidence['with_biases_at_most'], 1e-16):.0e}"
    )
    return Verdict.when(holds, ours)


def draw(evidence: Evidence) -> "Figure":
    import numpy as np
    from matplotlib.figure import Figure

    from penstock.lab.report.frame import quiet
    from penstock.lab.report.ink import INK, PALETTE

    figure = Figure(figsize=(9, 3.6), facecolor="white")
    left, right = figure.subplots(1, 2)
    a = np.linspace(-1.3, 0.9, 200)
    left.plot(a, (a - 1) ** 2 + (2 * a + 1) ** 2, color=PALETTE[0], linewidth=2)
    output = evidence["output_at_x"]
    left.scatter([output], [evidence["least_reached"]], s=55, color=PALETTE[1], zorder=3)
    left.annotate(
        f"reached: {evidence['least_reached']:.4f} at a = {output:.4f}",
        (output, evidence["least_reached"]),
        (0, -17),
        textcoords="offset points",
        ha="center",
        color=INK,
    )
    left.set_ylim(0, 9)
    left.set_xlabel("a = output at x, so 2a at 2x")
    left.set_ylabel("loss")
    left.set_title("without biases: one free number", fontsize=10.5, color=INK)
    steps = np.arange(evidence["losses"].shape[1])
    for losses, colour, name in (
        (evidence["losses"], PALETTE[0], "without biases"),
        (evidence["losses_with_biases"], PALETTE[2], "with biases"),
    ):
        for number, curve in enumerate(np.maximum(np.asarray(losses), 1e-16)):
            right.plot(
                steps, curve, color=colour, linewidth=1.1, alpha=0.7, label=name if number == 0 else None
            )
    right.axhline(
        evidence["least_reachable"], color=PALETTE[1], linewidth=1.2, linestyle=(0, (4, 3)), label="9/5"
    )
    right.set_yscale("log")
    right.set_xlabel("steps of L-BFGS")
    right.set_title(f"{evidence['cases']} networks of each kind", fontsize=10.5, color=INK)
    right.legend(frameon=False, labelcolor=INK, loc="center right", fontsize=9.5)
    quiet(left)
    quiet(right)
    figure.tight_layout(w_pad=2.5)
    return figure


claim = Claim(
    id="D1",
    paper="D",
    place="Section 1, a hard dataset",
    kind="exact",
    says="A ReLU network without biases cannot fit (x, 1) and (2x, -1): its features double with the input.",
    printed="(x, 1) and (2x, -1) cannot be memorised, since φ_2x = 2φ_x",
    scales={
        "smoke": Scale(
            settings=Settings(),
            rule=(
                "Over random networks without biases: listed features at 2x are twice those at x to the "
                f"last bit, no loss is ever below 9/5, and every network comes to within {CLOSE:g} of it; "
                f"every network with biases comes below {CLOSE:g}."
            ),
            judge=judge,
        )
    },
    run=run,
    draw=draw,
)
