"""The search finds in any kind of module what looking at every place of the line finds."""

import copy
import math

import pytest
import torch
from torch import Tensor, nn

from networks.residual import Block
from penstock import Switches, capture
from penstock.gates.along import finding
from penstock.gates.along import search as searching

PARTS = 40


def normal(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def moved(model: nn.Module, seed: int, size: float) -> nn.Module:
    other = copy.deepcopy(model)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for tensor in (*other.parameters(), *(b for b in other.buffers() if b.is_floating_point())):
            factor = torch.randn(tensor.shape, generator=generator, dtype=tensor.dtype)
            tensor.mul_(1 + size * factor.clamp(-0.9 / size, 3)).add_(size * factor / 10)
    return other


def everywhere(model: nn.Module, end: nn.Module, x: Tensor, parts: int = PARTS) -> set:
    """Every change between the gate records of neighboring places."""
    walker = copy.deepcopy(model).eval()
    states, ends = model.state_dict(), end.state_dict()
    found, before = set(), None
    for place in range(parts + 1):
        share = place / parts
        walker.load_state_dict(
            {k: torch.lerp(v, ends[k], share) if v.is_floating_point() else v for k, v in states.items()}
        )
        gates = {name: layer.to_dense() for name, layer in capture(walker, x).items() if layer.kind.hard}
        for name, bits in gates.items():
            if before is not None:
                for example, *unit in (bits != before[name]).nonzero().tolist():
                    found.add((place - 1, name, tuple(unit), example, bool(bits[(example, *unit)])))
        before = gates
    return found


def found_by_switches(model: nn.Module, end: nn.Module, x: Tensor, **options) -> set:
    model = copy.deepcopy(model)
    switches = Switches(model, x, parts=PARTS, **options)
    model.load_state_dict(end.state_dict())
    return {(round(one.lo * PARTS), one.layer, one.unit, one.example, one.opened) for one in switches.step()}


class PositionsFirst(nn.Module):
    """positions × examples × features, then everything folded into one batch."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.last = nn.Linear(3, 4), nn.Linear(4, 4), nn.Linear(4, 1)

    def forward(self, x: Tensor) -> Tensor:
        h = torch.relu(self.first(x.transpose(0, 1)))
        h = torch.relu(self.second(h.transpose(0, 1).reshape(-1, 4)))
        return self.last(h).reshape(len(x), -1)


class KeptPositive(nn.Module):
    """A weight's own ReLU opens no gate for any example."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(3, 5), nn.Linear(5, 1)

    def forward(self, x: Tensor) -> Tensor:
        h = nn.functional.linear(x, torch.relu(self.first.weight), 3 * self.first.bias)
        return self.last(torch.relu(h))


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(3, 4), nn.Linear(4, 3)
        self.last.weight = nn.Parameter(self.first.weight.T.contiguous())
        self.again = self.first

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.again(torch.relu(self.last(torch.relu(self.first(x))))))


def normalized(block: nn.Module) -> nn.Module:
    for module in block.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.normal_(module.bias, std=0.3)
    return block


MODULES = {
    "clipped": (
        lambda: nn.Sequential(
            nn.Linear(3, 8), nn.Hardtanh(0.0, 0.4), nn.Linear(8, 8), nn.Hardtanh(-0.2, 0.2), nn.Linear(8, 1)
        ),
        (3,),
    ),
    "leaky, parametric, absolute": (
        lambda: nn.Sequential(
            nn.Linear(3, 6), nn.PReLU(6), nn.Linear(6, 6), nn.LeakyReLU(0.1), nn.Linear(6, 1)
        ),
        (3,),
    ),
    "a residual block with its ReLU called twice in place": (lambda: normalized(Block(2, 2, 1)), (2, 4, 4)),
    "max-pooling": (
        lambda: nn.Sequential(
            nn.Conv2d(1, 3, 3), nn.ReLU(), nn.MaxPool2d(3, 2, 1), nn.Conv2d(3, 2, 2), nn.AdaptiveMaxPool2d(2)
        ),
        (1, 8, 8),
    ),
    "positions first, then folded": (PositionsFirst, (2, 3)),
    "the ReLU of a weight": (KeptPositive, (3,)),
    "shared layers": (Tied, (3,)),
    "smooth gates among hard ones": (
        lambda: nn.Sequential(
            nn.Linear(3, 6), nn.GELU(), nn.Linear(6, 6), nn.ReLU(), nn.LayerNorm(6), nn.Linear(6, 2)
        ),
        (3,),
    ),
}


@pytest.mark.parametrize("name", MODULES)
def test_it_finds_what_looking_everywhere_finds(name: str):
    make, shape = MODULES[name]
    torch.manual_seed(0)
    model = make().double().eval()
    x, end = normal(1, 6, *shape), moved(model, 2, 0.5)
    expected = everywhere(model, end, x)
    assert found_by_switches(model, end, x, inner=4) == expected != set()


def test_of_many_examples_those_that_cannot_flip_twice_are_passed_over_and_nothing_is_missed(
    monkeypatch: pytest.MonkeyPatch,
):
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1)
    ).double()
    x, end = normal(1, 400, 3), moved(model, 2, 0.02)
    looked_at: list[int] = []
    search = searching.search_line

    def counted(samples, count: int):
        looked_at.append(len(samples.examples))
        return search(samples, count)

    monkeypatch.setattr(finding, "search_line", counted)
    found = found_by_switches(model, end, x)
    few = sum(looked_at)
    assert found == found_by_switches(model, end, x, margin=math.inf)
    assert sum(looked_at) - few == 400
    assert len({example for *_, example, _ in found}) < few < 300


def test_portions_of_examples_change_nothing(monkeypatch: pytest.MonkeyPatch):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1)).double()
    x, end = normal(1, 20, 3), moved(model, 2, 0.3)
    whole = found_by_switches(model, end, x)
    for module in ("finding.AT_ONCE", "overview.AT_ONCE", "reach._AT_ONCE"):
        monkeypatch.setattr(f"penstock.gates.along.{module}", 100)
    assert found_by_switches(model, end, x) == whole
