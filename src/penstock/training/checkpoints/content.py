"""An ensemble in the middle of its training as tensors and a description, and back."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from penstock.errors import PenstockError
from penstock.training.ensemble import Ensemble
from penstock.training.trained import Best, Diverged, Trained

__all__ = ["pack", "unpack"]

# Between the parts of a tensor's name; no parameter's name has one.
_SLASH = "/"


def pack(ensemble: Ensemble) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Everything that it takes to go on."""
    tensors = {
        **_named("parameters", ensemble.flat.parameters),
        **_named("buffers", ensemble.buffers),
        **_named("optimizer", ensemble.optimizing.state()),
        "orders": ensemble.orders.state,
        "totals": ensemble.stepping.totals,
    }
    for place, (trained, row) in enumerate(zip(ensemble.trained, ensemble.rows, strict=True)):
        tensors |= _named(f"best/{place}", trained.best_state or {})
        for epoch, state in trained.snapshots.items():
            tensors |= _named(f"snapshots/{place}/{epoch}", state)
        for name, values in row.items():
            tensors |= _column(f"history/{place}/{name}", values)
    about = {
        "epoch": ensemble.epoch,
        "step": ensemble.step,
        "seconds": ensemble.seconds,
        "members": [_described(each, row) for each, row in zip(ensemble.trained, ensemble.rows, strict=True)],
    }
    return about, tensors


@torch.no_grad()
def unpack(ensemble: Ensemble, about: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
    """Into an ensemble that has just been made."""
    for name, stacked in ensemble.flat.parameters.items():
        stacked.copy_(tensors[f"parameters/{name}"])
    for name, stacked in ensemble.buffers.items():
        stacked.copy_(tensors[f"buffers/{name}"])
    ensemble.optimizing.restore(_under("optimizer", tensors))
    ensemble.orders.restore(tensors["orders"])
    ensemble.stepping.totals.copy_(tensors["totals"])
    ensemble.epoch, ensemble.step, ensemble.seconds = about["epoch"], about["step"], about["seconds"]
    device = ensemble.flat.numbers.device
    for place, told in enumerate(about["members"]):
        trained = ensemble.trained[place]
        _restore(trained, told)
        if trained.best is not None:
            trained.best_state = _on(device, _under(f"best/{place}", tensors))
        for epoch in told["snapshots"]:
            trained.snapshots[epoch] = _on(device, _under(f"snapshots/{place}/{epoch}", tensors))
        ensemble.rows[place] = {name: _values(f"history/{place}/{name}", tensors) for name in told["history"]}
        if trained.diverged is not None or trained.stopped is not None:
            ensemble.stop(place)


def _described(trained: Trained, row: Mapping[str, list]) -> dict[str, Any]:
    gone = trained.diverged
    return {
        "best": None if trained.best is None else list(trained.best),
        "snapshots": list(trained.snapshots),
        "history": list(row),
        "stopped": trained.stopped,
        "diverged": None
        if gone is None
        else [gone.epoch, gone.step, gone.where, None if gone.checkpoint is None else str(gone.checkpoint)],
    }


def _restore(trained: Trained, told: Mapping[str, Any]) -> None:
    trained.best = None if told["best"] is None else Best(*told["best"])
    trained.stopped = told["stopped"]
    if told["diverged"] is not None:
        epoch, step, where, checkpoint = told["diverged"]
        trained.diverged = Diverged(epoch, step, where, None if checkpoint is None else Path(checkpoint))


def _named(part: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {f"{part}{_SLASH}{name}": tensor for name, tensor in tensors.items()}


def _under(part: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    start = part + _SLASH
    return {name.removeprefix(start): each for name, each in tensors.items() if name.startswith(start)}


def _on(device: torch.device, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.to(device) for name, tensor in tensors.items()}


def _column(name: str, values: list[Any]) -> dict[str, Tensor]:
    """One tensor a column, or one an entry where their shapes differ."""
    arrays = [np.asarray(value) for value in values]
    if any(array.dtype.kind not in "fiub" for array in arrays):
        raise PenstockError(
            f"{name.split(_SLASH)[-1]} gives what is no number, and a checkpoint takes numbers; leave it out "
            "of also=, or train without a checkpoint"
        )
    if len({(array.shape, array.dtype) for array in arrays}) == 1:
        return {f"{name}{_SLASH}all": torch.from_numpy(np.stack(arrays))}
    return {f"{name}{_SLASH}{place}": torch.from_numpy(array.copy()) for place, array in enumerate(arrays)}


def _values(name: str, tensors: Mapping[str, Tensor]) -> list[Any]:
    found = _under(name, tensors)
    if "all" in found:
        return list(found["all"].numpy())
    return [found[str(place)].numpy() for place in range(len(found))]
