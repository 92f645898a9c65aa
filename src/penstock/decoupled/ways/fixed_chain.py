"""Chains of linear layers with fixed gates, which are computed once for each example and kept."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from penstock.decoupled.ways.stacked import linear, linear_gradients, rows_of, through_relu
from penstock.gates.packed import WORD, pack, unpack
from penstock.training.ways.chain import Link
from penstock.training.ways.stacking import held, trained
from penstock.training.ways.way import Batch, Named, Slope, Split, Way

if TYPE_CHECKING:
    from penstock.decoupled.network import GatedNetwork

__all__ = ["FixedChain"]

# Examples whose gates are computed together.
_CHUNK = 1024


class FixedChain(Way):
    """Value networks that cost what plain networks cost: where a plain one has a ReLU, a product."""

    def __init__(self, models: "Sequence[GatedNetwork]", links: Sequence[Link], memory: int):
        self._links, self._memory = links, memory
        self._trained, self._held = trained(models), held(models)
        self._widths = [
            models[0].get_parameter(f"value.{link.weight}").shape[0]
            for link in links
            if link.shut is not None
        ]
        self._kept: dict[Split, Bool[Tensor, "e n gates"] | Int64[Tensor, "e n words"]] = {}
        self._packs = False
        self.why = "chains of linear layers with fixed gates"

    def parameters(self) -> dict[str, Tensor]:
        return self._trained

    def prepare(self, inputs: Mapping[Split, Tensor]) -> None:
        members = len(next(iter(self._trained.values())))
        examples = members * sum(len(x) for x in inputs.values())
        # a byte a gate is looked up faster than a bit
        needed = examples * sum(self._widths)
        if needed > self._memory:
            self._packs, needed = True, examples * 8 * sum(-(-width // WORD) for width in self._widths)
        if needed > self._memory:
            self.why += f", computed at every step, since {needed / 1e9:.2g} GB do not fit in memory="
            return
        self.why += f", kept{' packed' if self._packs else ''} in {needed / 1e6:.2g} MB"
        for split, x in inputs.items():
            chunks = (x[start : start + _CHUNK] for start in range(0, len(x), _CHUNK))
            parts = (self._looked_at(chunk.expand(members, *chunk.shape)) for chunk in chunks)
            self._kept[split] = torch.cat(list(parts), dim=1)

    def outputs(self, parameters: Named, batch: Batch) -> Float[Tensor, "e b o"]:
        tensors, signal = {**self._held, **parameters}, rows_of(batch.x)
        factors = iter(self._factors(batch))
        for link in self._links:
            signal = linear(tensors, "value", link, signal)
            if link.shut is not None:
                signal = signal * next(factors)
        return signal

    @torch.no_grad()
    def gradients(self, parameters: Named, batch: Batch, slope: Slope, into: Named) -> None:
        tensors, signals = {**self._held, **parameters}, [rows_of(batch.x)]
        factors = self._factors(batch)
        gates = iter(factors)
        for link in self._links:
            signal = linear(tensors, "value", link, signals[-1])
            signals.append(signal if link.shut is None else signal.mul_(next(gates)))
        back, gates = slope(signals[-1]), reversed(factors)
        for place in range(len(self._links) - 1, -1, -1):
            link = self._links[place]
            if link.shut is not None:
                back = back * next(gates)
            linear_gradients(into, "value", link, back, signals[place])
            if place:
                back = torch.bmm(back, tensors[f"value.{link.weight}"])

    def _looked_at(self, x: Float[Tensor, "e b ..."]) -> Tensor:
        """The gates of some examples, as they are kept."""
        opened = [q > 0 for q in through_relu(self._held, self._links, rows_of(x))]
        if self._packs:
            opened = [pack(bits.flatten(0, 1)).unflatten(0, bits.shape[:2]) for bits in opened]
        return torch.cat(opened, dim=-1)

    def _factors(self, batch: Batch) -> list[Float[Tensor, "e b w"]]:
        """What multiplies the signal of every gated layer."""
        leaks = [link.shut for link in self._links if link.shut is not None]
        factors = self._bits(batch).to(batch.x.dtype).split(self._widths, dim=-1)
        return [
            leak + (1 - leak) * factor if leak else factor
            for factor, leak in zip(factors, leaks, strict=True)
        ]

    def _bits(self, batch: Batch) -> Bool[Tensor, "e b gates"]:
        """The gates of all layers, side by side."""
        kept = self._kept.get(batch.split)
        if kept is None:
            return torch.cat([q > 0 for q in through_relu(self._held, self._links, rows_of(batch.x))], dim=-1)
        if isinstance(batch.rows, slice):
            of_batch = kept[:, batch.rows]
        else:
            of_batch = kept[torch.arange(len(kept), device=kept.device)[:, None], batch.rows]
        if not self._packs:
            return of_batch
        bits = unpack(of_batch.flatten(0, 1), of_batch.shape[-1] * WORD).unflatten(0, of_batch.shape[:2])
        whole = bits.split([-(-width // WORD) * WORD for width in self._widths], dim=-1)
        return torch.cat([part[..., :w] for part, w in zip(whole, self._widths, strict=True)], dim=-1)
