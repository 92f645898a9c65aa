"""A residual network of ResNet-18's shape: one in-place ReLU object a block, called twice."""

from torch import Tensor, nn


class Block(nn.Module):
    def __init__(self, channels_in: int, channels: int, stride: int):
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU(inplace=True)
        self.skip = nn.Identity()
        if stride != 1 or channels_in != channels:
            self.skip = nn.Sequential(
                nn.Conv2d(channels_in, channels, 1, stride=stride, bias=False), nn.BatchNorm2d(channels)
            )

    def forward(self, x: Tensor) -> Tensor:
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += self.skip(x)
        return self.relu(out)


class ResNet18(nn.Module):
    """ResNet-18 for 32×32 images (`pooled=True` adds the 7×7 stem and max-pooling of the larger images)."""

    def __init__(self, width: int = 64, classes: int = 10, pooled: bool = False):
        super().__init__()
        stem: list[nn.Module] = [
            nn.Conv2d(
                3,
                width,
                7 if pooled else 3,
                stride=2 if pooled else 1,
                padding=3 if pooled else 1,
                bias=False,
            ),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
        ]
        if pooled:
            stem.append(nn.MaxPool2d(3, stride=2, padding=1))
        self.stem = nn.Sequential(*stem)
        widths = [width, width, 2 * width, 4 * width, 8 * width]
        self.layers = nn.ModuleList(
            nn.Sequential(Block(a, b, stride), Block(b, b, 1))
            for a, b, stride in zip(widths, widths[1:], (1, 2, 2, 2), strict=False)
        )
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(8 * width, classes)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        for layer in self.layers:
            x = layer(x)
        return self.fc(self.pool(x).flatten(1))
