"""What makes two trainings the same, and how a sentence says where they differ."""

import dataclasses
import zlib
from collections.abc import Mapping
from typing import Any

from torch import Tensor, uint8

from penstock.training.asking import Asked
from penstock.training.ensemble import Ensemble
from penstock.training.examples import Examples

__all__ = ["difference", "identity"]


def identity(ensemble: Ensemble, test: Examples | None, asked: Asked) -> dict[str, Any]:
    """By part, as JSON holds it. The weights at the start are no part of it: after an interruption the
    modules hold others."""
    optimizers = [_plain(member.optimizer or ensemble.recipe.optimizer) for member in ensemble.members]
    names = ("evaluate_at", "snapshots")
    at = {
        name: sorted(value) if isinstance(value := getattr(asked, name), frozenset) else value
        for name in names
    }
    return {
        "members": [[member.name, member.seed] for member in ensemble.members],
        "optimizers": optimizers,
        "recipe": _plain(ensemble.recipe),
        "parameters": {name: list(each.shape) for name, each in ensemble.flat.parameters.items()},
        "buffers": {name: list(each.shape) for name, each in ensemble.buffers.items()},
        "parameters that are held": _held(ensemble),
        "training set": _data(ensemble.train),
        "test set": None if test is None else _data(test),
        "evaluations": {**at, "also": sorted(asked.also)},
    }


def difference(there: Mapping[str, Any], here: Mapping[str, Any]) -> str | None:
    """The first part that differs, in words; None where none does."""
    for part, ours in here.items():
        theirs = there.get(part)
        if theirs != ours:
            if isinstance(ours, dict) and isinstance(theirs, dict):
                name = next(key for key in {**ours, **theirs} if ours.get(key) != theirs.get(key))
                return f"its {part}: {name} is {theirs.get(name)!r} there and {ours.get(name)!r} here"
            return f"its {part}: {theirs!r} there and {ours!r} here"
    return None


def _plain(value: Any) -> dict[str, Any]:
    """A recipe or an optimizer with its kind; what JSON would change (tuples) as JSON gives it back."""
    told: dict[str, Any] = {"kind": type(value).__name__}
    for field in dataclasses.fields(value):
        each = getattr(value, field.name)
        if dataclasses.is_dataclass(each):
            each = _plain(each)
        told[field.name] = list(each) if isinstance(each, tuple) else each
    return told


def _held(ensemble: Ensemble) -> list[int]:
    held = [[each for each in model.parameters() if not each.requires_grad] for model in ensemble.models]
    return [_digest(each) for each in held]


def _data(examples: Examples) -> dict[str, Any]:
    return {
        "shape of x": list(examples.x.shape),
        "shape of y": list(examples.y.shape),
        "dtype": str(examples.x.dtype),
        "checksum": _digest(examples),
    }


def _digest(tensors: Any) -> int:
    digest = 0
    for tensor in tensors:
        digest = zlib.crc32(_bytes(tensor), digest)
    return digest


def _bytes(tensor: Tensor) -> memoryview:
    return tensor.detach().cpu().contiguous().reshape(-1).view(uint8).numpy().data
