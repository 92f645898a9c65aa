"""The shadows of the signals of one pass, kept by the memory that the signals lie in.

A shadow has an entry for every entry of a signal's memory, in the same place. So all views of a signal have
the matching view of its shadow, and what is written into one of them shows in all.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float64
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef

__all__ = ["Shadows", "Unreadable", "memory_of"]

_NONE = -1


@dataclass(frozen=True)
class Unreadable:
    """Stands in a shadow's place where no path is known to lead: a refusal, should it reach the output."""

    reason: str


@dataclass
class _Kept:
    # weak, so that the memory is freed when the module drops it; while it is here, no other memory can be
    # taken for this one
    memory: StorageWeakRef
    itemsize: int
    shadow: Tensor | Unreadable


class Shadows:
    """Looked up by tensor."""

    def __init__(self, none: float):
        self.none = none
        self._kept: dict[int, _Kept] = {}

    def __contains__(self, tensor: Tensor) -> bool:
        return memory_of(tensor) in self._kept

    def of(self, tensor: Tensor) -> Float64[Tensor, "..."] | Unreadable | None:
        """The shadow of a tensor, as a view; None where its memory is unknown."""
        kept = self._kept.get(memory_of(tensor))
        if kept is None or isinstance(kept.shadow, Unreadable):
            return kept and kept.shadow
        if tensor.element_size() != kept.itemsize or not _fits(tensor, kept.shadow):
            return Unreadable("the memory of a signal is read in another dtype or size")
        return kept.shadow.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())

    def put(self, tensor: Tensor, shadow: Float64[Tensor, "..."] | Unreadable) -> None:
        """Says what the shadow of a tensor is. Of memory that is known already, the rest stays; what
        has no memory to look at (sparse tensors) has no shadow."""
        if memory_of(tensor) == _NONE:
            return
        old = self.of(tensor)
        whole = tensor.numel() * tensor.element_size() == tensor.untyped_storage().nbytes()
        if isinstance(shadow, Tensor) and isinstance(old, Tensor):
            old.copy_(shadow.clone() if _share(old, shadow) else shadow)
        elif isinstance(shadow, Tensor) and (old is None or whole):
            self._keep(tensor, self._laid(tensor, shadow))
        elif isinstance(shadow, Unreadable) and not isinstance(old, Unreadable):
            self._keep(tensor, shadow)

    def begin(self, tensor: Tensor, shadow: Float64[Tensor, " entries"]) -> None:
        """Says what the shadow of all the memory is that a tensor lies in."""
        self._keep(tensor, shadow)

    def _keep(self, tensor: Tensor, shadow: Tensor | Unreadable) -> None:
        for key in [key for key, kept in self._kept.items() if kept.memory.expired()]:
            del self._kept[key]
        memory = tensor.untyped_storage()
        self._kept[memory._cdata] = _Kept(StorageWeakRef(memory), tensor.element_size(), shadow)

    def _laid(self, tensor: Tensor, shadow: Float64[Tensor, "..."]) -> Float64[Tensor, " entries"]:
        """The shadow of all of a tensor's memory, of which nothing else is known."""
        entries = tensor.untyped_storage().nbytes() // tensor.element_size()
        if tensor.is_contiguous() and tensor.numel() == entries:
            laid = shadow.expand(tensor.shape).contiguous().view(-1)
            return laid.clone() if self._is_anothers(laid) else laid
        laid = torch.full((entries,), self.none, dtype=torch.float64, device=tensor.device)
        laid.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset()).copy_(shadow)
        return laid

    def _is_anothers(self, laid: Tensor) -> bool:
        return any(
            isinstance(kept.shadow, Tensor) and _share(kept.shadow, laid) for kept in self._kept.values()
        )


def memory_of(tensor: Tensor) -> int:
    """A number for the memory that a tensor lies in; the same for all that cannot say."""
    try:
        return tensor.untyped_storage()._cdata
    except NotImplementedError:
        return _NONE


def _share(a: Tensor, b: Tensor) -> bool:
    return a.untyped_storage()._cdata == b.untyped_storage()._cdata


def _fits(tensor: Tensor, shadow: Tensor) -> bool:
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return not tensor.numel() or tensor.storage_offset() + last < shadow.numel()
