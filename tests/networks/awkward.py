"""Networks that are hard to read, each for one reason. None is far-fetched: all of it is found in code that
people use."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

__all__ = [
    "AliasedInPlace",
    "Branching",
    "Called",
    "Checkpointed",
    "Experts",
    "Folded",
    "Forms",
    "Loop",
    "MadeOnTheWay",
    "Names",
    "Nested",
    "PositiveWeights",
    "Recovering",
    "SelfDeleting",
    "SequenceFirst",
    "Tied",
    "TwoInputs",
    "Unpooling",
    "WithHooks",
    "shared_gate",
]


class AliasedInPlace(nn.Module):
    """An in-place ReLU whose input is used once more afterwards: the other use sees what the ReLU wrote."""

    def __init__(self, inputs: int = 4, width: int = 6):
        super().__init__()
        self.first = nn.Linear(inputs, width)
        self.last = nn.Linear(width, 2)

    def forward(self, x: Tensor) -> Tensor:
        h = self.first(x)
        alias = h[:, 1:].detach() if not torch.is_grad_enabled() else h[:, 1:]
        F.relu(h, inplace=True)
        return self.last(h) + alias.sum(1, keepdim=True)


def shared_gate(width: int = 6, inputs: int = 4) -> nn.Sequential:
    """One ReLU object between all layers."""
    relu = nn.ReLU(inplace=True)
    return nn.Sequential(
        nn.Linear(inputs, width),
        relu,
        nn.Linear(width, width),
        relu,
        nn.Linear(width, width),
        relu,
        nn.Linear(width, 2),
    )


class Called(nn.Module):
    """One call of a function between two linear layers."""

    def __init__(self, function, inputs: int = 4, width: int = 6, outputs: int = 2):
        super().__init__()
        self.first = nn.Linear(inputs, width)
        self.last = nn.Linear(width, outputs)
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.function(self.first(x)))


class Forms(nn.Module):
    """ReLU in every form it can be written in, one after another."""

    def __init__(self, width: int = 5):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(12))
        self.act = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        forms = (
            self.act,
            torch.relu,
            F.relu,
            lambda q: F.relu(q, inplace=True),
            lambda q: q.relu(),
            lambda q: q.relu_(),
            lambda q: q.clamp(min=0),
            lambda q: q.clamp_(0),
            lambda q: torch.clamp_min(q, 0),
            lambda q: q.clip(0.0),
            lambda q: F.threshold(q, 0, 0),
            torch.ops.aten.relu,
        )
        for layer, form in zip(self.layers, forms, strict=True):
            x = form(layer(x) + 0.1)
        return x


class Branching(nn.Module):
    """Opens a second layer only where the first batch entry is large: control flow that depends on the
    data."""

    def __init__(self, inputs: int = 4, width: int = 6):
        super().__init__()
        self.first = nn.Linear(inputs, width)
        self.more = nn.Linear(width, width)
        self.last = nn.Linear(width, 2)

    def forward(self, x: Tensor) -> Tensor:
        h = torch.relu(self.first(x))
        if x[0, 0] > 0:
            h = torch.relu(self.more(h))
        return self.last(h)


class Loop(nn.Module):
    """A recurrence written out: one layer, called as often as there are steps."""

    def __init__(self, inputs: int = 3, width: int = 5, steps: int = 4):
        super().__init__()
        self.inner = nn.Linear(inputs + width, width)
        self.last = nn.Linear(width, 2)
        self.width, self.steps = width, steps

    def forward(self, x: Tensor) -> Tensor:
        h = torch.zeros(len(x), self.width, dtype=x.dtype, device=x.device)
        for _ in range(self.steps):
            h = torch.relu(self.inner(torch.cat([x, h], 1)))
        return self.last(h)


class Nested(nn.Module):
    """`depth` modules, one inside another, each with a ReLU of its own."""

    def __init__(self, depth: int, width: int = 4):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.inside = Nested(depth - 1, width) if depth > 1 else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        return self.inside(torch.relu(self.layer(x)))


class Tied(nn.Module):
    """One weight in two layers, and one module under two names."""

    def __init__(self, width: int = 4):
        super().__init__()
        self.a = nn.Linear(width, width)
        self.b = nn.Linear(width, width)
        self.b.weight = self.a.weight
        self.block = nn.Sequential(nn.Linear(width, width), nn.ReLU())
        self.again = self.block

    def forward(self, x: Tensor) -> Tensor:
        return self.again(self.block(torch.relu(self.b(torch.relu(self.a(x))))))


class WithHooks(nn.Module):
    """A hook that changes what a layer gives, with a ReLU of its own."""

    def __init__(self, width: int = 4):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.last = nn.Linear(width, 2)
        self.first.register_forward_hook(lambda module, args, y: torch.relu(y - 0.1))

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.first(x))


class Recovering(nn.Module):
    """Tries one way, fails inside a layer, and takes another."""

    def __init__(self, width: int = 4):
        super().__init__()
        self.broken = nn.Sequential(nn.ReLU(), nn.Linear(width + 1, 2))
        self.sound = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 2))

    def forward(self, x: Tensor) -> Tensor:
        try:
            return self.broken(x)
        except RuntimeError:
            return self.sound(torch.relu(x))


class SelfDeleting(nn.Module):
    """Removes a layer of its own, counts its calls, hooks itself and keeps what it saw: all of it while it is
    called."""

    def __init__(self, width: int = 4):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.once = nn.ReLU()
        self.last = nn.Linear(width, 2)
        self.register_buffer("seen", torch.zeros(width))
        self.calls = 0

    def forward(self, x: Tensor) -> Tensor:
        h = self.once(self.first(x))
        del self.once
        self.calls += 1
        self.kept = h
        self.seen += h.detach().sum(0)
        self.last.register_forward_hook(lambda module, args, y: None)
        self.first.weight.requires_grad_(False)
        torch.rand(3)
        return self.last(h)


class MadeOnTheWay(nn.Module):
    """Activations that are no children: one made at every call, one kept in a plain list."""

    def __init__(self, width: int = 4):
        super().__init__()
        self.block = nn.Linear(width, width)
        self.kept = [nn.ReLU()]

    def forward(self, x: Tensor) -> Tensor:
        return nn.ReLU()(self.kept[0](self.block(x)) - 0.1)


class Names(nn.Module):
    """Names that could be taken for one another: a child called `relu`, inline calls, a child called
    `relu:2`."""

    def __init__(self, width: int = 4):
        super().__init__()
        self.relu = nn.ReLU()
        self.add_module("relu:2", nn.ReLU())
        self.layer = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        x = self.relu(self.layer(x))
        x = torch.relu(self.layer(x))
        return self.get_submodule("relu:2")(self.layer(x))


class PositiveWeights(nn.Module):
    """Keeps the weights of its second layer positive by a ReLU, which is no gate of any example."""

    def __init__(self, inputs: int = 4, width: int = 6):
        super().__init__()
        self.first = nn.Linear(inputs, width)
        self.raw = nn.Parameter(torch.randn(3, width))
        self.scale = torch.full((3,), 0.5)

    def forward(self, x: Tensor) -> Tensor:
        h = torch.relu(self.first(x))
        return h @ torch.relu(self.raw * self.scale.abs()[:, None]).T


class SequenceFirst(nn.Module):
    """Works on positions × examples × features, as torch's recurrent layers and transformers do."""

    def __init__(self, inputs: int = 3, width: int = 5):
        super().__init__()
        self.first = nn.Linear(inputs, width)
        self.last = nn.Linear(width, 2)

    def forward(self, x: Tensor) -> Tensor:
        h = torch.relu(self.first(x.transpose(0, 1)))
        return self.last(h).sum(0)


class Folded(nn.Module):
    """Folds positions into the batch, examples outside or inside."""

    def __init__(self, inputs: int = 3, width: int = 5, outside: bool = True):
        super().__init__()
        self.first = nn.Linear(inputs, width)
        self.last = nn.Linear(width, 2)
        self.outside = outside

    def forward(self, x: Tensor) -> Tensor:
        n, positions, _ = x.shape
        if self.outside:
            return self.last(torch.relu(self.first(x.flatten(0, 1)))).unflatten(0, (n, positions)).sum(1)
        return (
            self.last(torch.relu(self.first(x.transpose(0, 1).flatten(0, 1))))
            .unflatten(0, (positions, n))
            .sum(0)
        )


class Experts(nn.Module):
    """Sends each example to one of two layers: each sees some of the batch."""

    def __init__(self, inputs: int = 4, outputs: int = 3):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(inputs, outputs) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        y = x.new_zeros(len(x), 3)
        for expert, chosen in zip(self.experts, (x[:, 0] > 0, x[:, 0] <= 0), strict=True):
            y[chosen] = torch.relu(expert(x[chosen]))
        return y


class Unpooling(nn.Module):
    """Max-pooling that hands the places of its maxima to an unpooling further on."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 3, 3, padding=1)
        self.pool = nn.MaxPool2d(2, return_indices=True)
        self.unpool = nn.MaxUnpool2d(2)
        self.last = nn.Conv2d(3, 1, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        h, places = self.pool(torch.relu(self.first(x)))
        return self.last(self.unpool(h, places))


class TwoInputs(nn.Module):
    """Takes an image and a scale, and returns a dictionary."""

    def __init__(self, inputs: int = 4, width: int = 6):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, width), nn.ReLU())
        self.head = nn.Linear(width, 2)
        self.register_buffer("offset", torch.ones(2))

    def forward(self, image: Tensor, scale: Tensor) -> dict[str, Tensor]:
        return {
            "features": self.body(image),
            "logits": self.head(torch.relu(scale * self.body(image))) + self.offset,
        }


class Checkpointed(nn.Module):
    """Runs its middle under `torch.utils.checkpoint`, which is an autograd Function of torch's own where
    reentrant."""

    def __init__(self, reentrant: bool, width: int = 4):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.middle = nn.Sequential(nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.last = nn.Linear(width, 2)
        self.reentrant = reentrant

    def forward(self, x: Tensor) -> Tensor:
        h = checkpoint(self.middle, self.first(x), use_reentrant=self.reentrant)
        return self.last(h)
