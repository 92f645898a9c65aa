"""What each stranger is asked. An answer is one line; a refusal is its own sentence."""

import time
from collections.abc import Callable

import torch
from torch import Tensor, nn

import penstock
from penstock.walk.reading import read


def gates(model: nn.Module, x: Tensor) -> str:
    record = penstock.capture(model, x)
    return f"{len(record)} layers, {sum(layer.gates for layer in record.values()):,} gates an input"


def proof(model: nn.Module, x: Tensor) -> str:
    penstock.capture(model, x).verify(model, x)
    return "complete"


def graph(model: nn.Module, x: Tensor) -> str:
    started = time.perf_counter()
    steps = read(model, x).steps
    return f"{len(steps)} steps in {time.perf_counter() - started:.1f} s"


def paths(model: nn.Module, x: Tensor) -> str:
    digits = str(penstock.count_paths(model, input_shape=tuple(x.shape[1:])))
    return digits if len(digits) < 8 else f"{digits[0]}.{digits[1:3]}e{len(digits) - 1}"


QUESTIONS: dict[str, Callable[[nn.Module, Tensor], str]] = {
    "gates, by watching": gates,
    "proof": proof,
    "graph": graph,
    "paths to output 0": paths,
}


def ask(question: Callable[[nn.Module, Tensor], str], model: nn.Module, x: Tensor) -> tuple[str, str | None]:
    """The answer, or `refused` and the sentence. Anything but a refusal of ours is a failure, and says so."""
    try:
        return question(model, x), None
    except penstock.PenstockError as refusal:
        return "refused", str(refusal)
    except Exception as failure:
        return "FAILED", f"{type(failure).__name__}: {failure}".splitlines()[0]


def example(input_shape: tuple[int, ...], rows: int = 4) -> Tensor:
    return torch.randn(rows, *input_shape, generator=torch.Generator().manual_seed(0))
