"""Convolutional networks, small enough that their paths can be listed."""

import torch
from torch import Tensor, nn
from torch.nn import functional


def settled(model: nn.Module, seed: int = 0, dtype: torch.dtype = torch.float64) -> nn.Module:
    """In evaluation mode, with running statistics and affine parameters as after some training."""
    generator = torch.Generator().manual_seed(seed)
    model = model.to(dtype).eval()
    for module in model.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            assert module.running_mean is not None
            assert module.running_var is not None
            module.running_mean.normal_(generator=generator)
            module.running_var.uniform_(0.5, 2, generator=generator)
            if module.affine:
                nn.init.normal_(module.weight, generator=generator)
                nn.init.normal_(module.bias, generator=generator)
    return model


def circular(
    positions: int = 3, kernel: int = 2, convolutions: int = 3, bias: bool = False, seed: int = 0
) -> nn.Module:
    """One channel, circular convolutions with ReLU, averaged over all positions (D Section 4, Figure 9)."""
    torch.manual_seed(seed)
    layers: list[nn.Module] = []
    for _ in range(convolutions):
        layers += [
            nn.CircularPad1d((0, kernel - 1)),
            nn.Conv1d(1, 1, kernel, bias=bias),
            nn.ReLU(),
        ]
    return settled(nn.Sequential(*layers, nn.AdaptiveAvgPool1d(1), nn.Flatten()))


def small_images(
    pool: nn.Module | None = None,
    *,
    channels: int = 2,
    width: int = 3,
    size: int = 4,
    norm: bool = True,
    bias: bool = True,
    outputs: int = 2,
    seed: int = 0,
) -> nn.Module:
    """Two convolutions with BatchNorm and ReLU, pooled in between, and a linear layer, for channels × size ×
    size images.
    """
    torch.manual_seed(seed)
    body = nn.Sequential(
        nn.Conv2d(channels, width, 3, padding=1, bias=bias),
        nn.BatchNorm2d(width) if norm else nn.Identity(),
        nn.ReLU(),
        pool or nn.Identity(),
        nn.Conv2d(width, width, 2, stride=2, bias=bias),
        nn.ReLU(),
        nn.Flatten(),
    )
    features = body.eval()(torch.zeros(1, channels, size, size)).shape[1]
    return settled(nn.Sequential(*body, nn.Linear(features, outputs, bias=bias)), seed)


class SmallResNet(nn.Module):
    """A stem, one block with an identity skip, one with a projected skip, global average pooling written as a
    mean.
    """

    def __init__(self, channels: int = 1, width: int = 2, outputs: int = 2, seed: int = 0):
        torch.manual_seed(seed)
        super().__init__()
        self.stem = nn.Conv2d(channels, width, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(width)
        self.conv1 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, 2 * width, 2, stride=2, bias=False)
        self.skip = nn.Conv2d(width, 2 * width, 1, stride=2, bias=False)
        self.relu = nn.ReLU(inplace=True)
        self.fc = nn.Linear(2 * width, outputs)
        settled(self, seed)

    def forward(self, x: Tensor) -> Tensor:
        x = self.relu(self.norm(self.stem(x)))
        x = self.relu(self.norm1(self.conv1(x)) + x)
        x = self.relu(self.conv2(x) + self.skip(x))
        return self.fc(x.mean((2, 3)))


class Concatenating(nn.Module):
    """Every layer reads all that came before it, side by side, as in a DenseNet."""

    def __init__(self, channels: int = 1, growth: int = 1, seed: int = 0):
        torch.manual_seed(seed)
        super().__init__()
        self.first = nn.Conv1d(channels, growth, 3, padding=1)
        self.second = nn.Conv1d(channels + growth, growth, 3, padding=1)
        self.last = nn.Conv1d(channels + 2 * growth, 1, 3, padding=1)
        settled(self, seed)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.cat([x, functional.relu(self.first(x))], 1)
        x = torch.cat([x, functional.leaky_relu(self.second(x))], 1)
        return self.last(x).flatten(1)


class TiedAutoencoder(nn.Module):
    """The decoder's weight is the encoder's, transposed."""

    def __init__(self, inputs: int = 3, width: int = 2, seed: int = 0):
        torch.manual_seed(seed)
        super().__init__()
        self.encoder = nn.Linear(inputs, width)
        self.shift = nn.Parameter(torch.randn(inputs))
        settled(self, seed)

    def forward(self, x: Tensor) -> Tensor:
        return functional.linear(functional.relu(self.encoder(x)), self.encoder.weight.t(), self.shift)


def unrolled(model: nn.Sequential, *shape: int) -> nn.Sequential:
    """The same function as a fully connected network: every affine layer as one matrix, found from its values
    at a basis.
    """
    layers: list[nn.Module] = []
    for layer in model:
        size = torch.Size(shape).numel()
        if isinstance(layer, nn.ReLU):
            layers.append(layer)
            continue
        with torch.no_grad():
            zero = layer(torch.zeros(1, *shape, dtype=torch.float64))
            basis = layer(torch.eye(size, dtype=torch.float64).reshape(size, *shape)) - zero
        shape = tuple(zero.shape[1:])
        matrix = nn.Linear(size, zero.numel(), dtype=torch.float64)
        matrix.weight.data, matrix.bias.data = basis.flatten(1).T, zero.flatten()
        layers.append(matrix)
    return nn.Sequential(*layers)
