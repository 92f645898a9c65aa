"""Five seeds trained at once against one seed in an ordinary PyTorch loop: FC on MNIST, and on a GPU also
GCONV on images of CIFAR-10's size."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.bench import Bench, Figure, in_turns
from penstock.lab.data.named import is_here, load_data
from penstock.lab.models.convolutional import gconv_network
from penstock.lab.models.fully_connected import fc_network
from penstock.training.examples import Examples
from penstock.training.loop import train
from penstock.training.member import Member
from penstock.training.recipe import Adam, Recipe

SEEDS = 5
AT_MOST = 3.0
RATE, BATCH = 3e-4, 32
# Of the five seeds at once on a GPU, against one seed: arithmetic alone would be five.
AT_MOST_ON_CUDA = 5.0

Make = Callable[[int], nn.Module]


def images(examples: int) -> tuple[Examples, str]:
    """MNIST where it lies on this machine; otherwise the embedded digits, as large as MNIST's."""
    if is_here("mnist"):
        data = load_data("mnist").train
        return data.select(slice(0, examples)), "MNIST"
    data = load_data("digits").train
    x = F.interpolate(data.x, size=(28, 28), mode="bilinear").clamp(0, 1)
    times = -(-examples // data.count)
    whole = Examples(x.repeat(times, 1, 1, 1), data.y.repeat(times))
    return whole.select(slice(0, examples)), "digits at 28×28"


def ordinary(model: nn.Module, data: Examples) -> None:
    """An epoch as anybody writes it: in memory, by index, with the fused optimizer."""
    model.train()
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE, fused=True)
    order = torch.randperm(data.count).to(data.x.device)
    for start in range(0, data.count, BATCH):
        rows = order[start : start + BATCH]
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(model(data.x[rows]), data.y[rows]).backward()
        optimizer.step()


def at_once(make: Make, seeds: int, data: Examples) -> str:
    members = [Member(f"seed {seed}", make(seed), seed) for seed in range(seeds)]
    return train(members, data, None, Recipe(1, Adam(RATE), batch=BATCH))[0].way


def compared(what: str, make: Make, data: Examples, at_most: float, rounds: int) -> Iterator[Figure]:
    """Five seeds at once, and one by the same loop, against the ordinary loop. On a GPU each waits for its
    last step."""
    wait = torch.cuda.synchronize if data.x.is_cuda else lambda: None
    ways = {
        "one": lambda: (ordinary(make(0), data), wait()),
        "five": lambda: (at_once(make, SEEDS, data), wait()),
        "one by train": lambda: (at_once(make, 1, data), wait()),
    }
    timed = in_turns(ways, rounds=rounds, warm_up=1)
    steps = -(-data.count // BATCH)
    peer = timed["one"].median / steps
    spread = {name: timings.spread for name, timings in timed.items()}
    for name, told, bound in (("five", f"{SEEDS} seeds", at_most), ("one by train", "1 seed", None)):
        ours = timed[name].median / steps
        bounded = {} if bound is None else {
            "target": f"at most {bound:g} times as long: {ours / peer:.2f}",
            "met": ours / peer <= bound,
        }  # fmt: skip
        yield Figure(
            f"a step of {told} of {what}", ours, peer, "one seed's step in an ordinary loop",
            details=spread, **bounded,
        )  # fmt: skip


def measure(small: bool) -> Iterator[Figure]:
    data, name = images(320 if small else 12800)
    yield from compared(
        f"FC on {name}, batch {BATCH}",
        lambda seed: fc_network(torch.Generator().manual_seed(seed)),
        data,
        AT_MOST,
        rounds=1 if small else 9,
    )
    if torch.cuda.is_available():
        yield from measure_on_cuda(small, data, name)


def measure_on_cuda(small: bool, data: Examples, name: str) -> Iterator[Figure]:
    device = torch.device("cuda")

    def on_device(make: Callable[..., nn.Module]) -> Make:
        return lambda seed: make(torch.Generator().manual_seed(seed)).to(device)

    title = f"on {torch.cuda.get_device_name()}, batch {BATCH}"
    rounds = 1 if small else 5
    yield from compared(
        f"FC on {name}, {title}", on_device(fc_network), data.to(device), AT_MOST_ON_CUDA, rounds
    )
    generator = torch.Generator().manual_seed(0)
    count = 320 if small else 6400
    noise: Tensor = torch.rand(count, 3, 32, 32, generator=generator)
    colours = Examples(noise, torch.randint(10, (count,), generator=generator)).to(device)
    yield from compared(
        f"GCONV on noise of CIFAR-10's size, {title}",
        on_device(gconv_network),
        colours,
        AT_MOST_ON_CUDA,
        rounds,
    )


bench = Bench("what does it cost to train five seeds at once, beside one?", measure)
