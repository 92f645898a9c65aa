"""What it costs to follow gates through training: a step of `Switches` against one pass over the probe."""

import copy
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from benchmarks.bench import Bench, Figure, in_turns
from penstock import Switches

AT_MOST = 1.5
# Of the size of the weights: so little that no gate flips, and as much as a step of training late in it.
QUIET, LIVELY = 1e-9, 1e-6


def fully_connected(width: int) -> nn.Sequential:
    layers: list[nn.Module] = [nn.Linear(64, width), nn.ReLU()]
    for _ in range(2):
        layers += [nn.Linear(width, width), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(width, 10))


class Steps:
    """A model whose weights move a little, now one way and now back, and what follows it."""

    def __init__(self, model: nn.Module, x: Tensor, size: float):
        generator = torch.Generator().manual_seed(1)
        self.there = copy.deepcopy(model.state_dict())
        self.back = copy.deepcopy(model.state_dict())
        for weight in self.there.values():
            noise = torch.randn(weight.shape, generator=generator)
            weight.add_(size * weight.abs().mean() * noise)
        self.model, self.switches = model, Switches(model, x)

    def step(self) -> None:
        self.there, self.back = self.back, self.there
        self.model.load_state_dict(self.back)
        self.switches.step()


def measure(small: bool) -> Iterator[Figure]:
    torch.manual_seed(0)
    width, examples = (16, 32) if small else (1024, 4096)
    model, x = fully_connected(width), torch.randn(examples, 64)
    quiet = Steps(model, x, QUIET)
    lively = Steps(copy.deepcopy(model), x, LIVELY)

    @torch.no_grad()
    def forward() -> Tensor:
        return model(x)

    timed = in_turns(
        {"forward": forward, "quiet": quiet.step, "lively": lively.step}, rounds=2 if small else 5, warm_up=1
    )
    peer = timed["forward"].median
    for name, steps in (("quiet", quiet), ("lively", lively)):
        ours = timed[name].median
        flips = len(steps.switches.found) / steps.switches.steps
        bounded = {
            "target": f"at most {AT_MOST:g} times as long: {ours / peer:.2f}",
            "met": ours / peer <= AT_MOST,
        }
        yield Figure(
            f"a step of Switches with {flips:g} flips, layers of {width}, {examples} examples", ours, peer,
            "one forward pass", details={"flips": flips}, **(bounded if name == "quiet" else {}),
        )  # fmt: skip


bench = Bench("what does following gates through a step cost beside one pass over the probe?", measure)
