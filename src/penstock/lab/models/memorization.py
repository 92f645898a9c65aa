"""The memorisation network of N Appendix D (Definition D.1, Table 5), also D's DGN with fixed random gating.

Its input is 1 for every example. What tells two examples apart are their gates, drawn once from Ber(μ) and
kept: each example has a random sub-network of its own to remember its target with.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Generator, Tensor

from penstock.decoupled.decoupling import decouple
from penstock.decoupled.network import GatedNetwork
from penstock.errors import PenstockError
from penstock.lab.models.fully_connected import relu_network
from penstock.lab.models.initialization import NamedLaw

__all__ = ["memorization_inputs", "memorization_network", "random_gates"]


def random_gates(
    examples: int, widths: Sequence[int], mu: float, generator: Generator
) -> list[Bool[Tensor, "{examples} width"]]:
    """Gates that are open with probability μ, each independent of all others: a tensor for each layer."""
    if not 0 <= mu <= 1:
        raise PenstockError(f"mu={mu:g} is no probability; give a number from 0 to 1")
    if examples < 1 or not widths or min(widths) < 1:
        raise PenstockError(
            f"there are no gates for {examples} examples in layers {tuple(widths)}; give one or more of each"
        )
    return [
        torch.rand(examples, width, generator=generator, device=generator.device) < mu for width in widths
    ]


def memorization_network(
    generator: Generator,
    *,
    examples: int,
    width: int,
    depth: int,
    law: NamedLaw,
    mu: float = 0.5,
    dtype: torch.dtype = torch.float64,
) -> GatedNetwork:
    """`depth` weight layers and `depth` - 1 layers of `width` gates for each example, without biases.

    The gates are drawn first, and never trained. N takes ±√(2/w) in *every* layer, `Bernoulli`; the law
    `"bernoulli"` would take √2 in the first one, whose fan-in is 1.

    >>> from penstock.lab.models.initialization import Bernoulli
    >>> generator = torch.Generator().manual_seed(0)
    >>> network = memorization_network(generator, examples=5, width=8, depth=3, law=Bernoulli(0.5))
    >>> network(memorization_inputs(5)).shape
    torch.Size([5, 1])
    """
    if depth < 2:
        raise PenstockError(f"depth={depth} leaves no hidden layer whose gates could tell; give 2 or more")
    hidden = [width] * (depth - 1)
    gates = random_gates(examples, hidden, mu, generator)
    values = relu_network((1, *hidden, 1), law, generator, dtype=dtype)
    return decouple(values, gates=gates, train="value")


def memorization_inputs(examples: int, dtype: torch.dtype = torch.float64) -> Float[Tensor, "{examples} 1"]:
    """The input of every example: 1."""
    return torch.ones(examples, 1, dtype=dtype)
