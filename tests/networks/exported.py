"""Networks that are hard to export, each for one reason, and that a graph can stand for all the same.

Most are one line of forward around a linear layer, so they are written as that line.
"""

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils import parametrizations, prune
from torch.utils.checkpoint import checkpoint

__all__ = ["READABLE", "Inline", "Make", "Shape", "kept"]

Make = Callable[[], nn.Module]
Shape = tuple[int, ...]


class Inline(nn.Module):
    """A linear layer `lin` of four features, what else is given, and a forward written as a function."""

    def __init__(self, function: Callable[[Any, Tensor], Any], **parts: Any):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.function = function
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, x: Tensor) -> Any:
        return self.function(self, x)


class Dense(nn.Module):
    """DenseNet's way: every layer sees what all earlier ones gave."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv2d(2 + 3 * i, 3, 3, padding=1) for i in range(3))
        self.norms = nn.ModuleList(nn.BatchNorm2d(2 + 3 * i) for i in range(3))

    def forward(self, x: Tensor) -> Tensor:
        for norm, layer in zip(self.norms, self.layers, strict=True):
            x = torch.cat([x, layer(F.relu(norm(x)))], dim=1)
        return x.mean((2, 3))


class SqueezeExcite(nn.Module):
    """A gate for every channel, made from the whole picture."""

    def __init__(self) -> None:
        super().__init__()
        self.squeeze, self.excite = nn.Conv2d(4, 2, 1), nn.Conv2d(2, 4, 1)

    def forward(self, x: Tensor) -> Tensor:
        s = F.adaptive_avg_pool2d(x, 1)
        return (x * torch.sigmoid(self.excite(F.relu(self.squeeze(s))))).flatten(1)


class Tokens(nn.Module):
    """A class token, copied once an example, and learnt positions."""

    def __init__(self) -> None:
        super().__init__()
        self.token = nn.Parameter(torch.randn(1, 1, 4))
        self.positions = nn.Embedding(4, 4)
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], dim=1)
        x = x + self.positions(torch.arange(4, device=x.device))
        return self.attention(x, x, x, need_weights=False)[0][:, 0]


class Stepping(nn.Module):
    """A recurrence written out, from a state of zeros."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(4, 3), nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Tensor:
        state = x.new_zeros(x.shape[0], 3)
        for step in range(x.shape[1]):
            state = torch.relu(self.inner(x[:, step]) + self.outer(state))
        return state


class Counting(nn.Module):
    """Counts its calls in a buffer and an attribute, and keeps what it saw last."""

    def __init__(self) -> None:
        super().__init__()
        self.lin, self.calls, self.last = nn.Linear(4, 4), 0, None
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        self.count += 1
        self.last = self.lin(x)
        return self.last


class Remembering(nn.Module):
    """Makes its table at the first call, and keeps it."""

    def __init__(self) -> None:
        super().__init__()
        self.lin, self.table = nn.Linear(4, 4), None

    def forward(self, x: Tensor) -> Tensor:
        if self.table is None:
            self.table = torch.arange(4, dtype=x.dtype, device=x.device)
        return self.lin(x + self.table)


def in_place_alias(m: Any, x: Tensor) -> Tensor:
    h = m.lin(x)
    alias = h[:, 1:]
    F.relu(h, inplace=True)
    return torch.cat([h, alias], dim=1)


def written_into(m: Any, x: Tensor) -> Tensor:
    h = m.lin(x).clone()
    h[:, 0] = 0
    h[:, 1] *= 2
    h[h < 0] = 0
    return h


def added_into_a_slice(m: Any, x: Tensor) -> Tensor:
    h = m.lin(x)
    h[:, :2].add_(x[:, 2:])
    return h


def gated_without_gradient(m: Any, x: Tensor) -> Tensor:
    with torch.no_grad():
        gate = torch.sigmoid(m.lin(x))
        with torch.enable_grad():
            gate = gate + m.lin(x)
    return gate * m.lin(x)


def made_from_shapes(m: Any, x: Tensor) -> Tensor:
    rows = x.shape[0]
    made = [
        x.new_zeros(rows, 1),
        torch.ones(rows, 2).to(x),
        torch.zeros_like(x),
        x.new_full((rows, 1), 2.0),
    ]
    return torch.cat([*made, m.lin(x)], dim=1)


def taken_apart(m: Any, x: Tensor) -> Tensor:
    first, second = m.lin(x).chunk(2, dim=1)
    left, right = torch.split(x, [1, 3], dim=1)
    values, _ = m.lin(x).sort(dim=1)
    return torch.cat(
        [second, first, right, left, values, x.unbind(1)[2][:, None], x.topk(2, dim=1).values], dim=1
    )


def causal_attention(m: Any, x: Tensor) -> Tensor:
    mask = torch.full((3, 3), float("-inf")).to(x).triu(1)
    return torch.softmax(x @ x.transpose(1, 2) + mask, dim=-1) @ m.lin(x)


def half_inside(m: Any, x: Tensor) -> Tensor:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        h = m.lin(x)
    return h.to(x.dtype)


def tied() -> nn.Module:
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))
    model[2].weight = model[0].weight  # pyright: ignore
    return model


def twice() -> nn.Module:
    layer = nn.Linear(4, 4)
    return nn.Sequential(layer, nn.ReLU(), layer)


def pruned() -> nn.Module:
    model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2))
    prune.random_unstructured(model[0], "weight", 0.5)
    return model


def hooked() -> nn.Module:
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    model[0].register_forward_hook(lambda module, inputs, output: output.mul(2))
    model[1].register_forward_pre_hook(lambda module, inputs: (inputs[0] + 1,))
    model.register_forward_hook(lambda module, inputs, output: output.sub(1))
    return model


def normalized_weights(norm: str) -> nn.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        new = getattr(parametrizations, norm)
        old = getattr(nn.utils, norm, new)
        return nn.Sequential(new(nn.Linear(4, 4)), nn.ReLU(), old(nn.Linear(4, 2)))


def images(layers: Callable[[], list[nn.Module]]) -> Make:
    return lambda: nn.Sequential(*layers(), nn.Flatten())


@cache
def kept(name: str) -> tuple[nn.Module, Shape]:
    """One of the readable networks, in float64 and evaluation mode: the same one each time, exported once."""
    make, shape = READABLE[name]
    torch.manual_seed(0)
    return make().double().eval(), shape


#: Networks that a graph can stand for, with the shape of one example.
READABLE: dict[str, tuple[Make, Shape]] = {
    # layers of every form
    "convolution 1d, grouped, same": (lambda: nn.Conv1d(2, 4, 3, groups=2, padding="same"), (2, 6)),
    "convolution 3d": (lambda: nn.Conv3d(2, 3, 2), (2, 3, 3, 3)),
    "convolution, circular": (lambda: nn.Conv2d(2, 3, 3, padding=1, padding_mode="circular"), (2, 4, 4)),
    "convolution, reflecting": (lambda: nn.Conv2d(2, 3, 3, padding=1, padding_mode="reflect"), (2, 4, 4)),
    "convolution, depthwise, dilated": (
        lambda: nn.Conv2d(4, 4, 3, groups=4, dilation=2, padding=2),
        (4, 5, 5),
    ),
    "convolution, transposed": (
        lambda: nn.ConvTranspose2d(2, 3, 3, stride=2, padding=1, output_padding=1),
        (2, 4, 4),
    ),
    "channel shuffle": (
        images(lambda: [nn.Conv2d(4, 4, 1), nn.ChannelShuffle(2), nn.PixelShuffle(2)]),
        (4, 3, 3),
    ),
    "max-pooling": (images(lambda: [nn.Conv2d(2, 3, 3), nn.MaxPool2d(3, 2, 1, ceil_mode=True)]), (2, 8, 8)),
    "max-pooling, undone": (
        lambda: Inline(lambda m, x: F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), [2, 2])),
        (2, 4, 4),
    ),
    "pooling, adaptive": (images(lambda: [nn.AdaptiveAvgPool2d((3, 2)), nn.AdaptiveMaxPool2d(2)]), (2, 7, 5)),
    "batch norm": (images(lambda: [nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.ReLU(inplace=True)]), (2, 5, 5)),
    "other norms": (
        images(lambda: [nn.GroupNorm(2, 4), nn.InstanceNorm2d(4)]),
        (4, 3, 3),
    ),
    "layer norm": (lambda: nn.Sequential(nn.LayerNorm(4), nn.Linear(4, 4)), (4,)),
    "activations": (
        lambda: nn.Sequential(
            nn.LeakyReLU(0.1), nn.PReLU(), nn.ELU(), nn.GELU(), nn.SiLU(), nn.ReLU6(), nn.RReLU()
        ),
        (4,),
    ),
    "upsampling": (
        images(lambda: [nn.Upsample(None, 2, "bilinear"), nn.Upsample(size=5)]),
        (2, 3, 3),
    ),
    "unflatten": (lambda: nn.Sequential(nn.Unflatten(1, (2, 2)), nn.Conv1d(2, 3, 1)), (4,)),
    "unfold and fold": (lambda: nn.Sequential(nn.Unfold(2), nn.Fold((4, 4), 2)), (2, 4, 4)),
    "bilinear": (lambda: Inline(lambda m, x: m.both(x, m.lin(x)), both=nn.Bilinear(4, 4, 2)), (4,)),
    "attention": (lambda: nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), (3, 4)),
    "attention, sequence first": (
        lambda: Inline(
            lambda m, x: m.a(*[x.transpose(0, 1)] * 3)[0].transpose(0, 1), a=nn.MultiheadAttention(4, 2)
        ),
        (3, 4),
    ),
    "attention, by hand": (lambda: Inline(causal_attention), (3, 4)),
    # architectures
    "dense": (Dense, (2, 4, 4)),
    "squeeze and excite": (SqueezeExcite, (4, 3, 3)),
    "class token": (Tokens, (3, 4)),
    "recurrence, written out": (Stepping, (3, 4)),
    # forms of one product
    "einsum": (lambda: Inline(lambda m, x: torch.einsum("bi,oi->bo", x, m.lin.weight)), (4,)),
    "matmul": (lambda: Inline(lambda m, x: x @ m.lin.weight.T + m.lin.bias), (4,)),
    "addmm": (lambda: Inline(lambda m, x: torch.addmm(m.lin.bias, x, m.lin.weight.t())), (4,)),
    "bmm": (lambda: Inline(lambda m, x: torch.bmm(x, m.lin.weight.expand(x.shape[0], 4, 4))), (3, 4)),
    "a buffer as weight": (
        lambda: Inline(lambda m, x: F.linear(x, m.w), w=nn.Buffer(torch.randn(3, 4))),
        (4,),
    ),
    "a plain tensor": (
        lambda: Inline(lambda m, x: m.lin(x) * m.scale.to(x), scale=torch.arange(4.0)),
        (4,),
    ),
    "literals": (
        lambda: Inline(lambda m, x: m.lin(x) * torch.tensor([1.0, 2.0, 3.0, 4.0]).to(x) + 1.5),
        (4,),
    ),
    # weights that are computed
    "tied": (tied, (4,)),
    "a layer called twice": (twice, (4,)),
    "weight norm": (lambda: normalized_weights("weight_norm"), (4,)),
    "spectral norm": (lambda: normalized_weights("spectral_norm"), (4,)),
    "orthogonal": (lambda: nn.Sequential(parametrizations.orthogonal(nn.Linear(4, 4))), (4,)),
    "pruned": (pruned, (4,)),
    "a number out of a parameter": (lambda: Inline(lambda m, x: m.lin(x) * m.lin.bias.max().item()), (4,)),
    "functional call": (
        lambda: Inline(lambda m, x: torch.func.functional_call(m.lin, {"weight": 2 * m.lin.weight}, (x,))),
        (4,),
    ),
    # what Python does around
    "hooks": (hooked, (4,)),
    "in place, with an alias": (lambda: Inline(in_place_alias), (4,)),
    "in place on the input": (lambda: nn.Sequential(nn.ReLU(inplace=True), nn.Linear(4, 4)), (4,)),
    "written into": (lambda: Inline(written_into), (4,)),
    "added into a slice": (lambda: Inline(added_into_a_slice), (4,)),
    "taken apart": (lambda: Inline(taken_apart), (4,)),
    "made from shapes": (lambda: Inline(made_from_shapes), (4,)),
    "batch and positions as one": (
        lambda: Inline(lambda m, x: m.lin(x.view(-1, 4)).view(x.shape[0], 3, 4)),
        (3, 4),
    ),
    "without gradient": (lambda: Inline(gated_without_gradient), (4,)),
    "detached": (lambda: Inline(lambda m, x: m.lin(x).detach() * x), (4,)),
    "bfloat16 inside": (lambda: Inline(half_inside), (4,)),
    "checkpoint": (lambda: Inline(lambda m, x: checkpoint(m.lin, x, use_reentrant=False)), (4,)),
    "vmap": (lambda: Inline(lambda m, x: torch.vmap(m.lin)(x)), (4,)),
    "dropout at rest": (
        lambda: nn.Sequential(nn.Linear(4, 4), nn.Dropout(), nn.Identity(), nn.AlphaDropout()),
        (4,),
    ),
    "traced": (
        lambda: nn.Sequential(
            nn.Linear(4, 4), torch.fx.symbolic_trace(nn.Sequential(nn.ReLU(), nn.Linear(4, 4)))
        ),
        (4,),
    ),
    "counting": (Counting, (4,)),
    "remembering": (Remembering, (4,)),
    "identity": (nn.Identity, (4,)),
    "no parameters": (nn.ReLU, (4,)),
}
