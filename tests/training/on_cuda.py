"""Training on a GPU against training on the CPU: `PYTHONPATH=src:tests python tests/training/on_cuda.py`.

The pytest file beside it runs the same functions; this one needs nothing but torch and what Penstock computes
with.
"""

import copy
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

from penstock.training.checkpoints.when import Checkpoints
from penstock.training.deferred import Deferred
from penstock.training.examples import Examples
from penstock.training.loop import train
from penstock.training.member import Member
from penstock.training.recipe import SGD, Adam, Optimizer, Recipe, RMSprop
from penstock.training.schedule import Cosine
from penstock.training.trained import Trained
from training.networks import Skip, chain, classes, convolutional, members, normalized, signs, with_dropout

OPTIMIZERS = (SGD(0.1), SGD(0.05, momentum=0.9), Adam(3e-3), RMSprop(1e-3))
MAKES = (chain, Skip, normalized, convolutional)


def on_device(ensemble: list[Member]) -> list[Member]:
    return [
        Member(each.name, copy.deepcopy(each.model).cuda(), each.seed, each.optimizer) for each in ensemble
    ]


def captured() -> list[str]:
    """Why no step was captured, of each ensemble that `both` trained so."""
    return [each.why_not_captured for each in _SEEN if each._graph is None]


_SEEN: list[Deferred] = []


def both(
    make, recipe: Recipe, data: Examples, test: Examples, optimizers: tuple[Optimizer, ...] | None = None
) -> tuple[list[Trained], list[Trained]]:
    """The same ensemble on the CPU and on the GPU; a step must have been captured."""
    ensemble = members(make, outputs=3 if recipe.loss == "cross entropy" else 1)
    if optimizers is not None:
        ensemble = [
            Member(each.name, each.model, each.seed, own)
            for each, own in zip(ensemble, optimizers, strict=True)
        ]
    there = on_device(ensemble)
    _SEEN.clear()
    found = Deferred.__init__

    def watched(self: Deferred, *arguments, **options) -> None:
        found(self, *arguments, **options)
        _SEEN.append(self)

    Deferred.__init__ = watched
    try:
        gpu = train(there, data.to("cuda"), test.to("cuda"), recipe)
    finally:
        Deferred.__init__ = found
    return train(ensemble, data, test, recipe), gpu


def assert_alike(cpu: list[Trained], gpu: list[Trained], tolerance: float = 1e-6) -> None:
    for ours, theirs in zip(cpu, gpu, strict=True):
        for name, tensor in ours.model.state_dict().items():
            other = theirs.model.state_dict()[name].cpu()
            torch.testing.assert_close(
                other, tensor.cpu(), rtol=tolerance, atol=tolerance, msg=lambda m, n=name: f"{n}: {m}"
            )
        for name in ("train_loss", "test_loss", "train_accuracy", "test_accuracy"):
            np.testing.assert_allclose(
                theirs.history[name], ours.history[name], rtol=tolerance, atol=tolerance
            )


def check_each_way_and_optimizer() -> None:
    for make in MAKES:
        for optimizer in OPTIMIZERS:
            for batch in (None, 5):
                recipe = Recipe(40 if batch is None else 8, optimizer, batch=batch)
                assert_alike(*both(make, recipe, classes(23), classes(40, seed=1)))
                assert captured() == [], (make, optimizer, batch, captured())


def check_device() -> None:
    """Members and examples are moved; the members stay there."""
    trained = train(members(chain), classes(23), classes(40, seed=1), Recipe(2, Adam(1e-2)), device="cuda")
    assert all(parameter.is_cuda for parameter in trained[0].model.parameters())
    assert_alike(train(members(chain), classes(23), classes(40, seed=1), Recipe(2, Adam(1e-2))), trained)


def check_losses() -> None:
    for loss in ("mean squared", "half sum of squares"):
        recipe = Recipe(8, SGD(4e-3, momentum=0.5), loss, batch=5)
        assert_alike(*both(chain, recipe, signs(23), signs(40, seed=1)))
        assert captured() == []


def check_schedule_and_own_optimizers() -> None:
    """A rate that moves is a tensor in float32, which a captured graph reads."""
    for optimizer in OPTIMIZERS:
        recipe = Recipe(8, optimizer, batch=5, schedule=Cosine(0.1))
        assert_alike(*both(chain, recipe, classes(23), classes(40, seed=1)), tolerance=1e-5)
        assert captured() == [], (optimizer, captured())
    own = (Adam(1e-3), Adam(1e-2), Adam(3e-3, betas=(0.8, 0.99)))
    assert_alike(*both(chain, Recipe(8, Adam(1e-3), batch=5), classes(23), classes(40, seed=1), own))
    assert captured() == []


def check_divergence() -> None:
    own = (SGD(0.1), SGD(1e200), SGD(0.1))
    cpu, gpu = both(Skip, Recipe(8, SGD(0.1), batch=5), classes(23), classes(40, seed=1), own)
    assert cpu[1].diverged is not None
    assert str(gpu[1].diverged) == str(cpu[1].diverged)
    assert_alike([cpu[0], cpu[2]], [gpu[0], gpu[2]])


def check_early_stop() -> None:
    own = (SGD(1e-4), SGD(0.3), SGD(1e-4))
    recipe = Recipe(60, SGD(0.1), batch=5, stop_at=0.8)
    cpu, gpu = both(chain, recipe, classes(23), classes(40, seed=1), own)
    assert cpu[1].stopped is not None
    assert gpu[1].stopped == cpu[1].stopped
    assert_alike(cpu, gpu)


def check_dropout_is_reproducible() -> None:
    """It draws from the GPU's generator: not the CPU's numbers, but the same ones each time."""
    first, second = (
        train(on_device(members(with_dropout)), classes(23).to("cuda"), None, Recipe(4, Adam(1e-2), batch=5))
        for _ in range(2)
    )
    assert_alike(first, second, tolerance=0)


def check_checkpoints() -> None:
    recipe = Recipe(6, Adam(1e-2), batch=5, schedule=Cosine())
    data, test = classes(23).to("cuda"), classes(40, seed=1).to("cuda")
    for make in (*MAKES, with_dropout):
        whole = train(on_device(members(make)), data, test, recipe)
        for at in (2, 13):

            def interrupt(place: int, step: int, at: int = at) -> None:
                if (place, step) == (2, at):
                    raise KeyboardInterrupt

            with tempfile.TemporaryDirectory() as folder:
                checkpoint = Checkpoints(Path(folder), seconds=None)
                try:
                    train(
                        on_device(members(make)),
                        data,
                        test,
                        recipe,
                        checkpoint=checkpoint,
                        each_step=interrupt,
                    )
                except KeyboardInterrupt:
                    pass
                else:
                    raise AssertionError("it was not interrupted")
                again = train(on_device(members(make)), data, test, recipe, checkpoint=checkpoint)
            for ours, theirs in zip(again, whole, strict=True):
                for name, tensor in theirs.model.state_dict().items():
                    torch.testing.assert_close(ours.model.state_dict()[name], tensor, rtol=1e-9, atol=1e-9)


CHECKS = {
    name.removeprefix("check_"): each for name, each in list(globals().items()) if name.startswith("check_")
}


def main() -> int:
    if not torch.cuda.is_available():
        print("there is no CUDA device")
        return 2
    failed = 0
    for name, check in CHECKS.items():
        began = time.perf_counter()
        try:
            check()
            told = "passed"
        except Exception as error:
            failed += 1
            told = f"FAILED {type(error).__name__}: {error}"
        print(f"{name}: {told} ({time.perf_counter() - began:.1f} s)", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
