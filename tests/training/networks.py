"""Small networks for the tests of training, and data for them."""

import torch
from torch import Tensor, nn

from penstock.training.examples import Examples
from penstock.training.member import Member

__all__ = ["Skip", "chain", "classes", "convolutional", "members", "normalized", "signs", "with_dropout"]


class Skip(nn.Module):
    """No chain: a skip and a functional ReLU."""

    def __init__(self, inputs: int = 6, outputs: int = 3):
        super().__init__()
        self.first, self.second, self.last = nn.Linear(inputs, 8), nn.Linear(8, 8), nn.Linear(8, outputs)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.first(x))
        return self.last(x + torch.relu(self.second(x)))


def chain(outputs: int = 3) -> nn.Module:
    return nn.Sequential(
        nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 7, bias=False), nn.LeakyReLU(0.2), nn.Linear(7, outputs)
    )


def normalized(outputs: int = 3) -> nn.Module:
    # a bias there has no gradient but rounding, which Adam divides by its own size
    return nn.Sequential(nn.Linear(6, 8, bias=False), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, outputs))


def with_dropout(outputs: int = 3) -> nn.Module:
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, outputs))


def convolutional(outputs: int = 3) -> nn.Module:
    return nn.Sequential(
        nn.Unflatten(1, (1, 2, 3)), nn.Conv2d(1, 4, 2), nn.ReLU(), nn.Flatten(), nn.Linear(8, outputs)
    )


def members(make, count: int = 3, **others) -> list[Member]:
    made = []
    for seed in range(count):
        torch.manual_seed(seed)
        made.append(Member(f"seed {seed}", make(**others).double(), seed))
    return made


def classes(count: int = 23, seed: int = 0) -> Examples:
    """Three classes in six dimensions, float64."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(count, 6, dtype=torch.float64, generator=generator)
    return Examples(x, (x[:, :3].argmax(1) + (x[:, 3] > 1)) % 3)


def signs(count: int = 23, seed: int = 0) -> Examples:
    """±1 in one column."""
    x, y = classes(count, seed)
    return Examples(x, (y > 0).double()[:, None] * 2 - 1)
