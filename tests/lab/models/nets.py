"""One network of every kind that the laboratory has, small, in float64, in evaluation mode, with inputs."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Generator, Tensor, nn

from penstock.lab.models.abreast import NetworksAbreast
from penstock.lab.models.circular import CircularNetwork
from penstock.lab.models.convolutional import gconv_network, vconv_network
from penstock.lab.models.fully_connected import (
    fc_network,
    random_relu_network,
    relu_network,
    tapering_network,
)
from penstock.lab.models.initialization import Gaussian
from penstock.lab.models.random_sizes import seeded
from penstock.lab.models.redrawing import redraw
from penstock.lab.models.residual import residual_network
from penstock.lab.models.teachers import convolutional_teacher, fully_connected_teacher
from penstock.lab.models.toy import toy_network
from penstock.lab.models.varied import FAMILIES, varied_network
from penstock.lab.models.vgg import vgg_network

DOUBLE = torch.float64
SMALL = (2, 8, 8)

Make = Callable[[Generator], nn.Module]

NETS: dict[str, tuple[Make, tuple[int, ...]]] = {
    "toy_network": (lambda g: toy_network(), (2,)),
    "relu_network": (lambda g: relu_network((3, 6, 5, 2), Gaussian(1.0), g, bias=True), (3,)),
    "fc_network": (partial(fc_network, inputs=64, width=12, classes=4, dtype=DOUBLE), (1, 8, 8)),
    "tapering_network": (partial(tapering_network, inputs=9, widths=(16, 8, 6, 3), dtype=DOUBLE), (9,)),
    "vconv_network": (
        partial(vconv_network, image=SMALL, channels=(4, 4, 6, 6), dense=(8, 8), dtype=DOUBLE),
        SMALL,
    ),
    "gconv_network": (
        partial(gconv_network, image=SMALL, channels=(4, 4, 6, 6), dense=(8,), dtype=DOUBLE),
        SMALL,
    ),
    "residual_network": (
        partial(residual_network, inputs=2, channels=(4, 6), blocks=2, dtype=DOUBLE),
        SMALL,
    ),
    "vgg_network": (partial(vgg_network, inputs=2, size=8, stages=((4,), (6, 6)), dtype=DOUBLE), SMALL),
    "fully_connected_teacher": (
        partial(fully_connected_teacher, inputs=6, hidden=(10, 15, 20, 25), outputs=5, dtype=DOUBLE),
        (6,),
    ),
    "fully_connected_teacher with BatchNorm": (
        partial(fully_connected_teacher, inputs=6, hidden=(10, 15), outputs=5, batch_norm=True, dtype=DOUBLE),
        (6,),
    ),
    "convolutional_teacher": (
        partial(convolutional_teacher, image=(1, 8, 8), channels=(6, 6), outputs=5, dtype=DOUBLE),
        (1, 8, 8),
    ),
    "convolutional_teacher with BatchNorm": (
        partial(
            convolutional_teacher,
            image=(1, 8, 8),
            channels=(6, 6),
            outputs=5,
            batch_norm=True,
            dtype=DOUBLE,
        ),
        (1, 8, 8),
    ),
    "CircularNetwork": (lambda g: CircularNetwork(5, 3, 3, Gaussian(1.0), g), (1, 5)),
    "NetworksAbreast": (lambda g: NetworksAbreast(7, (3, 6, 6, 2), Gaussian(1.0), g), (3,)),
}
"""By the name of what makes it: how, and the shape of one example."""


def made(name: str, seed: int = 0, examples: int = 7) -> tuple[nn.Module, Tensor]:
    """The network called so, and standard normal inputs for it. Every weight, bias, scale and running
    statistic is random, except where that would make a teacher no teacher. A tiny network that is shut for
    most inputs shows nothing, and another one is drawn.
    """
    generator = seeded(seed)
    while True:
        model, shape = _drawn(name, generator)
        x = torch.randn(examples, *shape, generator=generator, dtype=DOUBLE)
        with torch.no_grad():
            if len(model(x).unique(dim=0)) > examples // 2:
                return model, x


def _drawn(name: str, generator: Generator) -> tuple[nn.Module, tuple[int, ...]]:
    if name in FAMILIES:
        return varied_network(name, generator)
    if name == "random_relu_network":
        return random_relu_network(generator, bias=True)
    make, shape = NETS[name]
    model = make(generator).eval()
    fixed = "teacher" in name or name == "toy_network"
    return model if fixed else redraw(model, generator), shape


ALL = [*NETS, "random_relu_network", *FAMILIES]
"""Every name that `made` takes."""
