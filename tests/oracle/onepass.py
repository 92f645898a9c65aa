"""One pass over a residual network, layer by layer and position by position: how many paths lead to each
output, and what their absolute values to the power p add up to."""

from collections.abc import Callable
from itertools import product

import numpy as np
import torch
from torch import Tensor, nn

from networks.residual import Block, ResNet18

Array = np.ndarray


class Slow:
    """`size` says what a weight counts for: 1 in counting, |w|^p in a norm. Of the gates in `opened`, those
    that are shut stop every path; without any, all are open."""

    def __init__(self, size: Callable[[Array], Array], opened: list[Array] | None = None):
        self.size, self.opened = size, opened
        self.called = 0

    def convolution(self, sums: Array, layer: nn.Conv2d) -> Array:
        weight = self.size(layer.weight.detach().double().numpy())
        stride, padding = layer.stride[0], int(layer.padding[0])
        out, _, height, width = weight.shape
        rows = (sums.shape[1] + 2 * padding - height) // stride + 1
        columns = (sums.shape[2] + 2 * padding - width) // stride + 1
        made = np.zeros((out, rows, columns))
        for row, column, i, j in product(range(rows), range(columns), range(height), range(width)):
            r, c = row * stride - padding + i, column * stride - padding + j
            if 0 <= r < sums.shape[1] and 0 <= c < sums.shape[2]:
                made[:, row, column] += weight[:, :, i, j] @ sums[:, r, c]
        return made

    def norm(self, sums: Array, layer: nn.BatchNorm2d) -> Array:
        assert layer.running_mean is not None
        assert layer.running_var is not None
        scale = layer.weight / (layer.running_var + layer.eps).sqrt()
        shift = layer.bias - layer.running_mean * scale
        scale, shift = (self.size(part.detach().double().numpy())[:, None, None] for part in (scale, shift))
        return scale * sums + shift

    def relu(self, sums: Array) -> Array:
        if self.opened is None:
            return sums
        self.called += 1
        return sums * self.opened[self.called - 1]

    def block(self, sums: Array, block: Block) -> Array:
        bent = self.relu(self.norm(self.convolution(sums, block.conv1), block.bn1))
        bent = self.norm(self.convolution(bent, block.conv2), block.bn2)
        if isinstance(block.skip, nn.Sequential):
            convolution, norm = block.skip
            assert isinstance(convolution, nn.Conv2d)
            assert isinstance(norm, nn.BatchNorm2d)
            sums = self.norm(self.convolution(sums, convolution), norm)
        return self.relu(bent + sums)

    def network(self, model: ResNet18, shape: tuple[int, ...]) -> Array:
        convolution, norm, *_ = model.stem
        assert isinstance(convolution, nn.Conv2d)
        assert isinstance(norm, nn.BatchNorm2d)
        sums = self.relu(self.norm(self.convolution(np.ones(shape), convolution), norm))
        for stage in model.layers:
            assert isinstance(stage, nn.Sequential)
            for block in stage:
                assert isinstance(block, Block)
                sums = self.block(sums, block)
        positions = sums.shape[1] * sums.shape[2]
        pooled = sums.sum((1, 2)) * self.size(np.array(1 / positions))
        weight, bias = (
            self.size(part.detach().double().numpy()) for part in (model.fc.weight, model.fc.bias)
        )
        return weight @ pooled + bias


def gates_in_order(model: ResNet18, x: Tensor) -> list[Array]:
    """The gates that one example opens, one array a call of ReLU."""
    opened: list[Array] = []

    def look(module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        opened.append((inputs[0][0] > 0).double().numpy())

    relus = {id(module): module for module in model.modules() if isinstance(module, nn.ReLU)}
    hooks = [relu.register_forward_pre_hook(look) for relu in relus.values()]
    with torch.no_grad():
        model(x[None])
    for hook in hooks:
        hook.remove()
    return opened
