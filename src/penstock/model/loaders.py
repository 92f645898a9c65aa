"""Which data loaders give every example once, in the order of the data set."""

from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import BatchSampler, DataLoader, IterableDataset, SequentialSampler

from penstock.errors import PenstockError

__all__ = ["from_loader"]

_PLAIN = "DataLoader(dataset, batch_size=…, shuffle=False)"


def from_loader(loader: DataLoader[Any]) -> Iterator[Any]:
    """The inputs of every batch, without the targets; the loader's own generator is left as it was."""
    _check_order(loader)
    generator: torch.Generator | None = loader.generator
    state = None if generator is None else generator.get_state()
    try:
        for batch in loader:
            yield _inputs(batch)
    finally:
        if generator is not None and state is not None:
            generator.set_state(state)


def _check_order(loader: DataLoader[Any]) -> None:
    """Rows are told apart by their place, so a loader whose order may change, or that leaves some out, is
    refused."""
    if isinstance(loader.dataset, IterableDataset):
        return
    sampler = (
        loader.sampler if loader.batch_sampler is None else getattr(loader.batch_sampler, "sampler", None)
    )
    if loader.batch_sampler is not None and type(loader.batch_sampler) is not BatchSampler:
        raise PenstockError(
            f"the loader takes its batches from a {type(loader.batch_sampler).__name__}, whose order "
            f"Penstock cannot know; give {_PLAIN}"
        )
    if not isinstance(sampler, SequentialSampler | list | tuple | range):
        raise PenstockError(
            f"the loader is shuffled (its sampler is a {type(sampler).__name__}), so that its rows could not "
            f"be told apart afterwards; give {_PLAIN}"
        )
    if loader.drop_last and loader.batch_size and len(sampler) % loader.batch_size:
        raise PenstockError(
            f"the loader leaves out the last {len(sampler) % loader.batch_size} of {len(sampler)} examples "
            "(drop_last=True); make it with drop_last=False"
        )


def _inputs(batch: Any) -> Any:
    """x of a batch that is x or (x, y)."""
    if isinstance(batch, tuple | list):
        if len(batch) not in (1, 2):
            raise PenstockError(
                f"the loader gives batches of {len(batch)} parts, and x or (x, y) is needed; give one whose "
                "data set leaves the others out"
            )
        return batch[0]
    if isinstance(batch, dict):
        raise PenstockError(
            f"the loader gives dictionaries ({', '.join(map(str, batch))}), and x or (x, y) is needed; give "
            "one whose collate_fn picks the input out"
        )
    return batch
