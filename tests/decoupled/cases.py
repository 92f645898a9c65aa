"""Networks to decouple, with the shape of a batch: everything awkward that a watch can read."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from networks import awkward, convolutional, residual
from networks.fully_connected import Skipping, fully_connected

Make = Callable[[], nn.Module]


def two_layers() -> nn.Sequential:
    """Four inputs, two hidden layers of six, two outputs; float32, with biases."""
    return nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 2))


def small_convolutions(norm: bool = False) -> nn.Sequential:
    """Convolutions, max-pooling, a leaky layer, and a linear head behind a flattening, for 1×8×8 images."""
    return nn.Sequential(
        nn.Conv2d(1, 3, 3, padding=1),
        nn.BatchNorm2d(3) if norm else nn.Identity(),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
        nn.Conv2d(3, 4, 3, padding=1),
        nn.LeakyReLU(0.1),
        nn.Flatten(),
        nn.Linear(64, 5),
        nn.ReLU(),
        nn.Linear(5, 2),
    )


class PooledSkips(nn.Module):
    """A skip, max-pooling, an in-place ReLU object that is called twice: what gradients have to pass."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 3, 3, padding=1)
        self.second = nn.Conv2d(3, 3, 3, padding=1)
        self.relu = nn.ReLU(inplace=True)
        self.last = nn.Linear(12, 2)

    def forward(self, x: Tensor) -> Tensor:
        h = self.relu(self.first(x))
        h = self.relu(self.second(h) + h)
        return self.last(F.max_pool2d(h, 2).flatten(1))


def called(function: Callable[[Tensor], Tensor]) -> tuple[Make, tuple[int, ...]]:
    return lambda: awkward.Called(function), (5, 4)


NETWORKS: dict[str, tuple[Make, tuple[int, ...]]] = {
    "fully connected": (lambda: fully_connected(4, 6, 6, 2, bias=True), (5, 4)),
    "skipping": (Skipping, (5, 3)),
    "in place, with an alias": (awkward.AliasedInPlace, (5, 4)),
    "one ReLU object for all": (awkward.shared_gate, (5, 4)),
    "every form of ReLU": (awkward.Forms, (5, 5)),
    "branching": (awkward.Branching, (5, 4)),
    "a loop": (awkward.Loop, (5, 3)),
    "nested": (lambda: awkward.Nested(6), (5, 4)),
    "tied weights and layers": (awkward.Tied, (5, 4)),
    "a hook with a ReLU": (awkward.WithHooks, (5, 4)),
    "recovering from an error": (awkward.Recovering, (5, 4)),
    "layers made on the way": (awkward.MadeOnTheWay, (5, 4)),
    "names that look alike": (awkward.Names, (5, 4)),
    "a ReLU of weights": (awkward.PositiveWeights, (5, 4)),
    "positions first": (awkward.SequenceFirst, (5, 7, 3)),
    "folded": (awkward.Folded, (5, 7, 3)),
    "experts": (awkward.Experts, (9, 4)),
    "pooling with indices": (awkward.Unpooling, (3, 1, 8, 8)),
    "circular": (convolutional.circular, (5, 1, 3)),
    "images": (lambda: convolutional.small_images(nn.MaxPool2d(2)), (5, 2, 4, 4)),
    "images, adaptive pooling": (lambda: convolutional.small_images(nn.AdaptiveMaxPool2d(3)), (5, 2, 4, 4)),
    "small convolutions": (small_convolutions, (5, 1, 8, 8)),
    "a small residual network": (convolutional.SmallResNet, (5, 1, 4, 4)),
    "concatenating": (convolutional.Concatenating, (5, 1, 6)),
    "tied autoencoder": (convolutional.TiedAutoencoder, (5, 3)),
    "ResNet-18": (lambda: residual.ResNet18(4, pooled=True).eval(), (2, 3, 32, 32)),
    "a transformer's layer": (
        lambda: nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval(),
        (5, 3, 4),
    ),
    "LeakyReLU": called(lambda q: F.leaky_relu(q, 0.1)),
    "LeakyReLU in place": called(lambda q: F.leaky_relu(q * 1, 0.1, inplace=True)),
    "PReLU": (lambda: awkward.Called(nn.PReLU(6)), (5, 4)),
    "ReLU6": called(lambda q: F.relu6(9 * q)),
    "hardtanh": called(F.hardtanh),
    "clamp at both ends": called(lambda q: q.clamp(0, 0.5)),
    "absolute value": called(torch.abs),
    "GELU": called(F.gelu),
    "written into out=": called(lambda q: torch.clamp_min(q.detach(), 0, out=torch.empty(5, 6))),
}


def made(name: str, seed: int = 0) -> tuple[nn.Module, Tensor]:
    """The network of this name, and a batch of standard normal inputs for it."""
    torch.manual_seed(seed)
    make, shape = NETWORKS[name]
    model = make()
    return model, torch.randn(shape, dtype=next(model.parameters()).dtype)


def redraw(module: nn.Module, seed: int) -> nn.Module:
    """Standard normal weights, whatever the layers are, and not too large."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(0.5 * torch.randn(parameter.shape, generator=generator))
    return module
