"""`vtk`: the value tangent kernel, the Gram matrix of the gradients of all path values.

A path's value is a product of letters (weights), and its derivative by one of them is the product of the
others. Where a letter is no parameter's entry but computed from some (BatchNorm's scale, weight norm, a
pruning mask), the chain rule leads on to these. Both derivatives are nearly empty matrices, as a path touches
few weights, and stay so.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import torch
from jaxtyping import Float
from scipy import sparse
from torch import Tensor, nn

from penstock.paths.alphabet import Block
from penstock.paths.asking import Asked, ask
from penstock.paths.hops import Hops
from penstock.paths.limit import check_memory
from penstock.paths.tracing import trace

__all__ = ["vtk"]

# Columns of the kernel that are computed at a time.
_BLOCK = 256


def vtk(
    model: nn.Module, *, input_shape: Sequence[int] | None = None, output: int = 0
) -> Float[Tensor, "paths paths"]:
    """V(p, p') = ⟨∇_Θ v(p), ∇_Θ v(p')⟩ over all of the model's Parameters (N Definition 3.2).

    With hard gates, the tangent kernel of that output is Φᵀ V Φ (N Proposition 3.1): `npf @ vtk @ npf.T`. The
    slope of a PReLU is the value of a gate and no weight: it has no share in V, and the proposition then
    speaks of the tangent kernel of all other parameters.

    >>> vtk(nn.Linear(2, 1, bias=False))
    tensor([[1., 0.],
            [0., 1.]])
    """
    asked = ask(model, input_shape, output)
    paths, like = asked.tally.paths, asked.like
    check_memory(paths, "a number for each pair of them", paths**2 * like.itemsize, like.device)
    gradients = path_gradients(asked)
    kernel = torch.empty(paths, paths, dtype=like.dtype)
    for first in range(0, paths, _BLOCK):
        columns = slice(first, first + _BLOCK)
        kernel[:, columns] = torch.from_numpy(gradients @ gradients[columns].toarray().T)
    return kernel.to(like.device)


def path_gradients(asked: Asked) -> sparse.csr_array:
    """∇_Θ v(p): a row for each path, a column for each number in the Parameters (N Definition 3.1)."""
    graph = asked.graph
    leaves = {name: graph.sources[name].detach().requires_grad_() for name in graph.parameters}
    held = replace(graph, sources={**graph.sources, **leaves}).held(differentiable=True)
    with torch.enable_grad():
        hops = trace(graph, asked.output, held)
        by_parameters = _letters_by_parameters(hops, leaves, asked.like)
    return sparse.csr_array(_by_letters(hops, asked.like) @ by_parameters)


def _by_letters(hops: Hops, like: Tensor) -> sparse.csr_array:
    """The derivative of each path's value by each letter: the product of the letters before and after it."""
    _, hop = hops.follow(np.arange(len(hops)))
    letter = hops.weight[hop]
    values = np.append(_numpy(hops.alphabet.values(like)), 1)[letter]
    one = np.ones((len(letter), 1), values.dtype)
    before = np.cumprod(np.hstack([one, values[:, :-1]]), axis=1)
    after = np.cumprod(np.hstack([one, values[:, :0:-1]]), axis=1)[:, ::-1]
    path, place = np.nonzero(letter >= 0)
    entries = (before * after)[path, place], (path, letter[path, place])
    return sparse.csr_array(entries, shape=(len(hops), len(hops.alphabet)))


def _letters_by_parameters(hops: Hops, leaves: Mapping[str, Tensor], like: Tensor) -> sparse.csr_array:
    """The derivative of each letter that some path has by each number in the Parameters."""
    sizes = [leaf.numel() for leaf in leaves.values()]
    first = dict(zip(leaves, np.cumsum([0, *sizes]).tolist(), strict=False))
    none = np.zeros(0, np.int64)
    parts = [(none, none, none.astype(_numpy(like).dtype))]
    for block in hops.alphabet.blocks:
        parts += _derivatives(block, np.unique(hops.weight), leaves, first)
    letter, number, derivative = (np.concatenate(column) for column in zip(*parts, strict=True))
    return sparse.csr_array((derivative, (letter, number)), shape=(len(hops.alphabet), sum(sizes)))


def _derivatives(
    block: Block, used: np.ndarray, leaves: Mapping[str, Tensor], first: Mapping[str, int]
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """For one tensor's letters: letter, number in the Parameters, derivative of the one by the other."""
    letters = used[(used >= block.first) & (used < block.first + block.values.numel())]
    for name, leaf in leaves.items():
        if leaf is block.values:
            yield letters, letters - block.first + first[name], np.ones(len(letters), _numpy(leaf[:0]).dtype)
            return
    if not block.values.requires_grad:
        return
    entries = block.values.flatten()
    for letter in letters.tolist():
        gradients = torch.autograd.grad(
            entries[letter - block.first], list(leaves.values()), retain_graph=True, allow_unused=True
        )
        for name, gradient in zip(leaves, gradients, strict=True):
            if gradient is not None:
                derivative = _numpy(gradient.flatten())
                number = np.flatnonzero(derivative)
                yield np.full_like(number, letter), number + first[name], derivative[number]


def _numpy(values: Tensor) -> np.ndarray:
    """NumPy has no bfloat16, and SciPy's sparse matrices no float16."""
    return values.detach().to(torch.promote_types(values.dtype, torch.float32)).cpu().numpy()
