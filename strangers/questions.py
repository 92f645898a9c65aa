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


def decoupled(model: nn.Module, x: Tensor) -> str:
    with torch.no_grad():
        ours, its = penstock.decouple(model)(x), model(x)
    if torch.equal(ours, its):
        return "its outputs, to the bit"
    return f"its outputs to {float((ours - its).abs().max() / its.abs().max()):.0e}"


def redrawn(model: nn.Module, x: Tensor) -> str:
    """Fresh weights under the gates that the model has."""
    pair = penstock.regime(model, "flnpf", trained=model, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        fresh = not torch.allclose(pair(x), model(x))
    own, held = penstock.capture(model, x), penstock.capture(pair, x)
    kept = all(
        torch.allclose(held[f"value.{name}"].to_dense(), layer.to_dense()) for name, layer in own.items()
    )
    return f"weights {'fresh' if fresh else 'KEPT'}, gates {'kept' if kept else 'LOST'}"


def trained(model: nn.Module, x: Tensor) -> str:
    """A few steps of learning gates and weights apart, towards targets drawn at random."""
    pair = penstock.regime(model, "dlnpf", generator=torch.Generator().manual_seed(0)).train()
    generator = torch.Generator().manual_seed(1)
    optimizer = torch.optim.SGD(pair.parameters(), lr=_STEP)
    losses = []
    with torch.random.fork_rng():
        torch.manual_seed(0)
        target = torch.randn(pair(x).shape, generator=generator)
        for _ in range(_STEPS):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(pair(x), target)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    moved = sum(parameter.grad is not None for parameter in pair.feature.parameters())
    return f"loss {losses[0]:.2f} to {losses[-1]:.2f}, {moved} parameters of gates learn"


_STEPS = 5
_STEP = 1e-2

QUESTIONS: dict[str, Callable[[nn.Module, Tensor], str]] = {
    "gates, by watching": gates,
    "proof": proof,
    "graph": graph,
    "paths to output 0": paths,
    "decoupled": decoupled,
    "its gates, fresh weights": redrawn,
    "five steps of DLNPF": trained,
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
