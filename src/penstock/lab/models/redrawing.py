"""New weights for a network that is there already.

A module is read once, which takes longer than any question about a tiny network; drawn anew in place it stays
the one that was read, so that a statement is tried on many networks of one architecture.
"""

import torch
from torch import Generator, nn

__all__ = ["redraw"]


def redraw(model: nn.Module, generator: Generator) -> nn.Module:
    """The same module with standard normal weights and biases, and random running means and variances."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(generator=generator)
        for name, buffer in model.named_buffers():
            if name.endswith("running_mean"):
                buffer.normal_(generator=generator)
            elif name.endswith("running_var"):
                buffer.uniform_(0.5, 2.0, generator=generator)
    return model
