"""The layers of a model, by name, and how a sentence names one."""

from collections.abc import Iterator

from torch import nn

from penstock.model.adapter import Adapted

__all__ = ["describe", "layers"]


def layers(model: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """Every module of the model with its path, also one that `adapt` has wrapped; a shared one once, under
    its first path."""
    for path, module in model.named_modules():
        yield path, module
        while isinstance(module, Adapted):
            module = module.adapted
            yield path, module


def describe(path: str, module: nn.Module) -> str:
    """`the layer blocks.2.norm (BatchNorm2d)`, or `the model (Net)` for the outermost."""
    kind = type(module).__name__
    return f"the layer {path} ({kind})" if path else f"the model ({kind})"
