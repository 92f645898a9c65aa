"""Chains of linear layers with soft gates that learn: forward and backward written out for both networks.

With q, G = (1 + ε)σ(βq) of the feature network, q^v of the value network, and the losses' derivatives written
as ∂:

    ∂q^v = ∂z^v · G        ∂G = ∂z^v · q^v        ∂q = ∂G · βG(1 - G / (1 + ε)) + ∂z · ∂z/∂q

Nothing goes through the feature network's last layer, since its output is nobody's (N Table 4).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from penstock.decoupled.ways.stacked import linear, linear_gradients, rows_of
from penstock.gates.gate import Hard, Soft
from penstock.training.ways.chain import Link
from penstock.training.ways.stacking import held, trained
from penstock.training.ways.way import Batch, Named, Slope, Way

if TYPE_CHECKING:
    from penstock.decoupled.network import GatedNetwork

__all__ = ["LearntChain"]


class _Layer(NamedTuple):
    """One layer's pass: what it read, and where it is gated the pre-activations and the gates."""

    link: Link
    feature: Float[Tensor, "e b i"]
    value: Float[Tensor, "e b i"]
    q: Float[Tensor, "e b o"] | None = None
    q_value: Float[Tensor, "e b o"] | None = None
    gate: Float[Tensor, "e b o"] | None = None


class LearntChain(Way):
    """Both networks of all members in one pass, without autograd."""

    why = "chains of linear layers with soft gates that learn"

    def __init__(self, models: "Sequence[GatedNetwork]", links: Sequence[Link]):
        assert isinstance(models[0].gate, Soft)
        self._links, self._gate = links, models[0].gate
        self._hard = models[0].feature_gate == Hard()
        self._trained, self._held = trained(models), held(models)
        self._last_gate = max(place for place, link in enumerate(links) if link.shut is not None)

    def parameters(self) -> dict[str, Tensor]:
        return self._trained

    def outputs(self, parameters: Named, batch: Batch) -> Float[Tensor, "e b o"]:
        return self._forward({**self._held, **parameters}, rows_of(batch.x))[0]

    @torch.no_grad()
    def gradients(self, parameters: Named, batch: Batch, slope: Slope, into: Named) -> None:
        tensors = {**self._held, **parameters}
        y, layers = self._forward(tensors, rows_of(batch.x))
        back, back_feature = slope(y), None
        for place in range(len(layers) - 1, -1, -1):
            layer = layers[place]
            by_q = back_feature
            if layer.gate is not None:
                back, by_q = self._through_gate(layer, back, back_feature)
            linear_gradients(into, "value", layer.link, back, layer.value)
            if by_q is not None:
                linear_gradients(into, "feature", layer.link, by_q, layer.feature)
            if place:
                back = torch.bmm(back, tensors[f"value.{layer.link.weight}"])
                back_feature = (
                    None if by_q is None else torch.bmm(by_q, tensors[f"feature.{layer.link.weight}"])
                )
        for link in self._links[self._last_gate + 1 :]:
            for name in (link.weight, link.bias):
                if f"feature.{name}" in into:
                    into[f"feature.{name}"].zero_()

    def _forward(
        self, tensors: Named, x: Float[Tensor, "e b i"]
    ) -> tuple[Float[Tensor, "e b o"], list[_Layer]]:
        layers: list[_Layer] = []
        feature = value = x
        for place, link in enumerate(self._links):
            q_value = linear(tensors, "value", link, value)
            if link.shut is None:
                layers.append(_Layer(link, feature, value))
                value = q_value
                feature = linear(tensors, "feature", link, feature) if place < self._last_gate else feature
                continue
            q = linear(tensors, "feature", link, feature)
            gate = self._gate.value(q)
            layers.append(_Layer(link, feature, value, q, q_value, gate))
            factor = gate if not link.shut else link.shut + (1 - link.shut) * gate
            value = q_value * factor
            feature = F.leaky_relu(q, link.shut) if self._hard else q * factor
        return value, layers

    def _through_gate(
        self, layer: _Layer, back: Tensor, back_feature: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """From the derivatives by what came out of one gated layer to those by what went in."""
        q, q_value, gate, shut = layer.q, layer.q_value, layer.gate, layer.link.shut or 0.0
        assert q is not None
        assert q_value is not None
        assert gate is not None
        steep, top = self._gate.beta, 1 + self._gate.epsilon
        factor = gate if not shut else shut + (1 - shut) * gate
        bend = gate * (gate * (-steep / top) + steep)
        by_gate = back * q_value
        by_q = None
        if back_feature is not None:
            if self._hard:
                by_q = torch.where(q > 0, back_feature, back_feature * shut if shut else 0.0)
            else:
                by_gate = by_gate + back_feature * q
                by_q = back_feature * factor
        through = by_gate.mul_(bend if not shut else bend * (1 - shut))
        return back * factor, through if by_q is None else by_q.add_(through)
