"""The gates that every two inputs share: AND and POPCNT on packed words, against Grams of zeros and ones."""

from collections import deque
from collections.abc import Iterator
from functools import reduce

import torch
from torch import Tensor

from benchmarks.bench import Bench, Figure, in_turns
from penstock import compiled
from penstock.gates.packed import pack
from penstock.gates.shared import shared_counts, shared_products

AT_LEAST = 8.0


def gram_products(layers: list[Tensor]) -> Tensor:
    """Λ as it is written with dense gates: a Gram matrix a layer, multiplied entry by entry."""
    return reduce(lambda product, gates: product.mul_(gates @ gates.T), layers[1:], layers[0] @ layers[0].T)


def measure(small: bool) -> Iterator[Figure]:
    inputs, width, depth = (64, 100, 3) if small else (4096, 1024, 5)
    torch.manual_seed(0)
    bits = [torch.rand(inputs, width) < 0.5 for _ in range(depth)]
    words, dense = [pack(layer) for layer in bits], [layer.float() for layer in bits]
    alone = gram_products(dense)
    torch.testing.assert_close(shared_products(words).float(), alone, msg="the two ways disagree")
    ways = {
        "product": lambda: shared_products(words),
        "grams": lambda: gram_products(dense),
        "counts": lambda: deque(map(shared_counts, words), maxlen=1),
        "counts by grams": lambda: deque((layer @ layer.T for layer in dense), maxlen=1),
    }
    timed = in_turns(ways, rounds=3 if small else 9, warm_up=2)
    title = f"{depth} layers of {width} gates, {inputs} inputs"
    how = "compiled" if compiled.available() else "by torch, without Numba"
    spread = {name: timings.spread for name, timings in timed.items()}
    ours, peer = timed["product"].median, timed["grams"].median
    yield Figure(
        f"Λ of {title} ({how})", ours, peer, "product of float32 Grams",
        target=f"at least {AT_LEAST:g} times faster", met=peer / ours >= AT_LEAST, details=spread,
    )  # fmt: skip
    ours, peer = timed["counts"].median, timed["counts by grams"].median
    yield Figure(f"τ of each of {title} ({how})", ours, peer, "float32 Grams", details=spread)
    memory = sum(layer.nbytes for layer in words), sum(layer.nbytes for layer in bits)
    yield Figure(f"the gates of {title}", memory[0] / 1e6, memory[1] / 1e6, "one byte a gate", unit="MB")


bench = Bench("how fast are the gates that every two inputs share counted?", measure)
