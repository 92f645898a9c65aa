"""While an ensemble is trained, its members' modules look into its tensors."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn

__all__ = ["bound"]


@contextmanager
def bound(models: Sequence[nn.Module], tensors: Mapping[str, Tensor]) -> Iterator[None]:
    """Inside, parameters and buffers of these names are views of the stacked tensors; afterwards they are the
    modules' own again, with the numbers that the views had."""
    pairs = []
    try:
        for member, model in enumerate(models):
            own = {**dict(model.named_parameters()), **dict(model.named_buffers())}
            for name, stacked in tensors.items():
                if name in own:
                    tensor, view = own[name], stacked[member]
                    pairs.append((tensor, tensor.data, view))
                    tensor.data = view
        yield
    finally:
        with torch.no_grad():
            for tensor, data, view in pairs:
                tensor.data = data.copy_(view)
