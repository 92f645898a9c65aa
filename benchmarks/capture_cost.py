"""What it costs to record gates: `capture` against the forward pass alone, and the memory of the record."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from benchmarks.bench import Bench, Figure, in_turns
from penstock import capture

AT_MOST = 1.5


class Block(nn.Module):
    """Two convolutions with BatchNorm, a skip, and one in-place ReLU object that is called twice."""

    def __init__(self, channels_in: int, channels: int, stride: int):
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU(inplace=True)
        same = stride == 1 and channels_in == channels
        project = nn.Conv2d(channels_in, channels, 1, stride=stride, bias=False)
        self.skip = nn.Identity() if same else nn.Sequential(project, nn.BatchNorm2d(channels))

    def forward(self, x: Tensor) -> Tensor:
        out = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        out += self.skip(x)
        return self.relu(out)


def resnet18(width: int) -> nn.Sequential:
    """ResNet-18's shape for 32×32 images."""
    channels = [width, width, 2 * width, 4 * width, 8 * width]
    blocks = []
    for before, after, stride in zip(channels, channels[1:], (1, 2, 2, 2), strict=False):
        blocks += [Block(before, after, stride), Block(after, after, 1)]
    stem = [nn.Conv2d(3, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True)]
    return nn.Sequential(
        *stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8 * width, 10)
    ).eval()


def measure(small: bool) -> Iterator[Figure]:
    torch.manual_seed(0)
    model, inputs = (resnet18(4), 2) if small else (resnet18(64), 64)
    x = torch.randn(inputs, 3, 32, 32)

    @torch.no_grad()
    def forward() -> Tensor:
        return model(x)

    timed = in_turns(
        {"forward": forward, "capture": lambda: capture(model, x)}, rounds=3 if small else 9, warm_up=2
    )
    ours, peer = timed["capture"].median, timed["forward"].median
    yield Figure(
        f"capture of a ResNet-18, {inputs} images of 32×32", ours, peer, "the forward pass alone",
        target=f"at most {AT_MOST:g} times as long: {ours / peer:.3f}", met=ours / peer <= AT_MOST,
        details={name: timings.spread for name, timings in timed.items()},
    )  # fmt: skip
    record = capture(model, x)
    bits = 8 * record.nbytes / (record.gates * record.examples)
    yield Figure(
        f"the record of {record.gates:,} gates of {inputs} images", record.nbytes / 1e6,
        record.gates * record.examples * 4 / 1e6, "the activations, in float32", unit="MB",
        target=f"one bit a gate: {bits:.3f}", met=bits == 1,
    )  # fmt: skip


bench = Bench("what does capture cost beside the forward pass?", measure)
