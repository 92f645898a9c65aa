"""What a decoupled network's step costs beside a plain ReLU network's: gates fixed, and gates that learn.

Both go through `penstock.training`, whose plain step is measured beside an ordinary PyTorch loop elsewhere
(`ensemble_training`). Gates that are fixed are recorded before the first step, once for all epochs, so an
epoch is timed from the end of the first to the end of the last.
"""

import statistics
from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Generator, nn

from benchmarks.bench import Bench, Figure
from benchmarks.ensemble_training import BATCH, RATE, images
from penstock import regime
from penstock.lab.data.named import is_here, load_data
from penstock.lab.models.convolutional import gconv_network
from penstock.lab.models.fully_connected import fc_network
from penstock.training.examples import Examples
from penstock.training.loop import train
from penstock.training.member import Member
from penstock.training.recipe import Adam, Recipe

FIXED, LEARNT = 1.15, 2.3
EPOCHS = 3
MEMORY = "4GiB"

Make = Callable[[Generator], nn.Module]


def colours(examples: int) -> tuple[Examples, str]:
    """CIFAR-10 where it lies on this machine; otherwise noise of its size."""
    if is_here("cifar-10"):
        return load_data("cifar-10").train.select(slice(0, examples)), "CIFAR-10"
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(examples, 3, 32, 32, generator=generator)
    return Examples(x, torch.randint(10, (examples,), generator=generator)), "noise of CIFAR-10's size"


def step_seconds(model: nn.Module, data: Examples) -> float:
    """One step's, over all epochs but the first."""
    recipe = Recipe(EPOCHS, Adam(RATE), batch=BATCH)
    seconds = train([Member("one", model, 0)], data, None, recipe, memory=MEMORY)[0].history["seconds"]
    return float(seconds[-1] - seconds[0]) / (EPOCHS - 1) / -(-data.count // BATCH)


def compared(what: str, make: Make, data: Examples, rounds: int) -> Iterator[Figure]:
    model = make(torch.Generator().manual_seed(0))
    networks: dict[str, Callable[[], nn.Module]] = {
        "plain": lambda: make(torch.Generator().manual_seed(0)),
        "fixed": partial(regime, model, "frnpf-ii", generator=torch.Generator().manual_seed(1)),
        "learnt": partial(regime, model, "dlnpf", generator=torch.Generator().manual_seed(1)),
    }
    steps: dict[str, list[float]] = {name: [] for name in networks}
    for turn in range(1 + rounds):
        for name, network in networks.items():
            seconds = step_seconds(network(), data)
            if turn:
                steps[name].append(seconds)
    peer = statistics.median(steps["plain"])
    spread = {name: max(each) / min(each) for name, each in steps.items()}
    for name, told, bound in (("fixed", "fixed gates", FIXED), ("learnt", "gates that learn", LEARNT)):
        ours = statistics.median(steps[name])
        yield Figure(
            f"a step of {what} with {told}", ours, peer, "a plain ReLU network's step", details=spread,
            target=f"at most {bound:g} times as long: {ours / peer:.2f}", met=ours / peer <= bound,
        )  # fmt: skip


def measure(small: bool) -> Iterator[Figure]:
    rounds = 1 if small else 7
    data, name = images(320 if small else 6400)
    yield from compared(f"FC on {name}, batch {BATCH}", fc_network, data, rounds)
    data, name = colours(32 if small else 256)
    yield from compared(f"GCONV on {name}, batch {BATCH}", gconv_network, data, rounds)


bench = Bench("what does a decoupled network's step cost beside a plain one's?", measure)
