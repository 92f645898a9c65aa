"""The five columns of N Table 2 for FC and Adam, five seeds each, against one seed of the plain network.

That one is trained in an ordinary PyTorch loop, for as many epochs. Both are tested after every epoch, since
Table 2 asks for the best.
"""

import time
from collections.abc import Callable, Iterator

import torch
from torch import Generator, nn
from torch.nn import functional as F

from benchmarks.bench import Bench, Figure
from benchmarks.ensemble_training import BATCH, RATE, SEEDS, images
from penstock import regime
from penstock.lab.data.named import is_here, load_data
from penstock.lab.models.fully_connected import fc_network
from penstock.training.examples import Examples
from penstock.training.loop import train
from penstock.training.member import Member
from penstock.training.recipe import Adam, Recipe

AT_MOST = 18.0
# Examples tested at once by the ordinary loop.
_CHUNK = 1000

Make = Callable[[int], nn.Module]


def ordinary(data: Examples, test: Examples, epochs: int) -> None:
    """One seed, as anybody writes it."""
    model = fc_network(torch.Generator().manual_seed(0))
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE, fused=True)
    for _ in range(epochs):
        model.train()
        order = torch.randperm(data.count)
        for start in range(0, data.count, BATCH):
            rows = order[start : start + BATCH]
            optimizer.zero_grad(set_to_none=True)
            F.cross_entropy(model(data.x[rows]), data.y[rows]).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            for start in range(0, test.count, _CHUNK):
                (
                    model(test.x[start : start + _CHUNK]).argmax(1) == test.y[start : start + _CHUNK]
                ).sum().item()


def five_columns(data: Examples, test: Examples, epochs: int) -> None:
    """ReLU first: its best weights are FLNPF's features."""
    recipe = Recipe(epochs, Adam(RATE), batch=BATCH)

    def trained(make: Callable[[int], nn.Module]) -> list[nn.Module]:
        members = [Member(f"seed {seed}", make(seed), seed) for seed in range(SEEDS)]
        best = []
        for each in train(members, data, test, recipe):
            assert each.best_state is not None
            each.model.load_state_dict(each.best_state)
            best.append(each.model)
        return best

    def network(seed: int) -> nn.Module:
        return fc_network(torch.Generator().manual_seed(seed))

    def fresh(seed: int) -> Generator:
        return torch.Generator().manual_seed(100 + seed)

    relu = trained(network)
    trained(lambda seed: regime(network(seed), "flnpf", trained=relu[seed], generator=fresh(seed)))
    trained(lambda seed: regime(network(seed), "dlnpf", generator=fresh(seed)))
    trained(lambda seed: regime(network(seed), "frnpf-ii", generator=fresh(seed)))
    trained(lambda seed: regime(network(seed), "frnpf-di", generator=fresh(seed)))


def measure(small: bool) -> Iterator[Figure]:
    data, name = images(320 if small else 60000)
    test = load_data("mnist").test if is_here("mnist") else data
    test = test.select(slice(0, 100)) if small else test
    epochs = 1 if small else 2
    seconds: dict[str, list[float]] = {"ours": [], "peer": []}
    # turn by turn, so that whatever else the machine does falls on both
    for _ in range(1 if small else 3):
        for who, work in (("peer", ordinary), ("ours", five_columns)):
            began = time.perf_counter()
            work(data, test, epochs)
            seconds[who].append(time.perf_counter() - began)
    ours, peer = (sorted(seconds[who])[len(seconds[who]) // 2] for who in ("ours", "peer"))
    yield Figure(
        f"five regimes of FC on {name}, {SEEDS} seeds each, {epochs} epochs", ours, peer,
        "one seed of the plain network in an ordinary loop", target=f"at most {AT_MOST:g} times as long: "
        f"{ours / peer:.1f}", met=ours / peer <= AT_MOST,
        details={who: max(each) / min(each) for who, each in seconds.items()},
    )  # fmt: skip


bench = Bench("what does a row of N Table 2 cost?", measure)
