"""Jacobians and tangent kernels from their definitions, by a loop over `torch.autograd.grad`.

No `vmap` and no `jacrev`: in torch 2.13 their composition gives a wrong derivative for PReLU's weight.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn


def gradient(scalar: Tensor, parameters: Sequence[Tensor]) -> Tensor:
    """∂ scalar / ∂ Θ as one vector, zero where a parameter is not used."""
    if not scalar.requires_grad:
        return torch.cat([torch.zeros_like(p).ravel() for p in parameters])
    parts = torch.autograd.grad(scalar, parameters, retain_graph=True, allow_unused=True)
    return torch.cat(
        [
            torch.zeros_like(p).ravel() if g is None else g.ravel()
            for p, g in zip(parameters, parts, strict=True)
        ]
    )


def jacobian(model: Callable[[Tensor], Tensor], parameters: Sequence[Tensor], x: Tensor) -> Tensor:
    """ψ_x = ∇_Θ ŷ_Θ(x), examples × outputs × parameters; examples pass through the model one at a time."""
    rows = []
    for example in x:
        y = model(example[None])[0].ravel()
        rows.append(torch.stack([gradient(y[a], parameters) for a in range(len(y))]))
    return torch.stack(rows).detach()


def ntk(
    model: nn.Module,
    x: Tensor,
    other: Tensor | None = None,
    *,
    output: int | str = "trace",
    parameters: Sequence[Tensor] | None = None,
) -> Tensor:
    """K(s, s') = ⟨ψ_s, ψ_s'⟩ (N Section 1.1): one output's, their sum ("trace"), or every pair's ("full")."""
    parameters = [p for p in model.parameters() if p.requires_grad] if parameters is None else parameters
    left = jacobian(model, parameters, x)
    right = left if other is None else jacobian(model, parameters, other)
    n, m, outputs = len(left), len(right), left.shape[1]
    full = torch.zeros(n, m, outputs, outputs, dtype=left.dtype)
    for i in range(n):
        for j in range(m):
            for a in range(outputs):
                for b in range(outputs):
                    full[i, j, a, b] = left[i, a] @ right[j, b]
    if output == "full":
        return full
    if output == "trace":
        return sum((full[:, :, a, a] for a in range(outputs)), start=torch.zeros(n, m, dtype=left.dtype))
    assert isinstance(output, int)
    return full[:, :, output, output]


def path_gradients(values: Sequence[Tensor], parameters: Sequence[Tensor]) -> Tensor:
    """The rows φ_p = ∂v(p)/∂Θ, paths × parameters (N Definition 3.1); `values` are differentiable scalars."""
    return torch.stack([gradient(value, parameters) for value in values]).detach()


def vtk(values: Sequence[Tensor], parameters: Sequence[Tensor]) -> Tensor:
    """V(p, p') = ⟨φ_p, φ_p'⟩, paths × paths (N Definition 3.2)."""
    gradients = path_gradients(values, parameters)
    return torch.stack([gradients @ gradient for gradient in gradients])


def npk(features: Tensor) -> Tensor:
    """H(s, s') = ⟨φ_s, φ_s'⟩ (N Lemma 2.1), from features examples × paths."""
    return torch.stack([features @ feature for feature in features])
