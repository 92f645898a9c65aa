"""Data without meaning: random labels and random pixels (D Figure 5)."""

import torch
from torch import Generator

from penstock.errors import PenstockError
from penstock.lab.data.pixels import per_image
from penstock.training.examples import Examples

__all__ = ["random_labels", "random_pixels"]

#: Images whose pixels are drawn at once.
AT_ONCE = 4096


def random_labels(examples: Examples, classes: int, generator: Generator) -> Examples:
    """The same inputs, each with a label drawn evenly from all classes, whatever it was.

    >>> from penstock.lab.data.named import load_data
    >>> train = load_data("digits").train
    >>> shuffled = random_labels(train, 10, torch.Generator().manual_seed(0))
    >>> bool((shuffled.y == train.y).float().mean() < 0.15)
    True
    """
    if classes < 1:
        raise PenstockError(f"classes={classes} leaves no label to draw; give 1 or more")
    drawn = torch.randint(classes, (examples.count,), generator=generator, device=generator.device)
    return Examples(examples.x, drawn.to(examples.x.device))


def random_pixels(examples: Examples, generator: Generator) -> Examples:
    """Every image with its pixels in an order of its own, drawn at random; labels stay. The channels of a
    pixel move together.

    So an image keeps its shades and loses its shape, which is what "random pixels" means since Zhang and
    others (2017); D does not say. The same order for all images is `permute_pixels`.

    >>> from penstock.lab.data.named import load_data
    >>> train = load_data("digits").train
    >>> scattered = random_pixels(train, torch.Generator().manual_seed(0))
    >>> torch.equal(scattered.x.flatten(1).sort().values, train.x.flatten(1).sort().values)
    True
    """
    channels, pixels = per_image(examples.x)
    x = examples.x.reshape(examples.count, channels, pixels)
    scattered = torch.empty_like(x)
    for start in range(0, examples.count, AT_ONCE):
        some = x[start : start + AT_ONCE]
        keys = torch.rand(len(some), 1, pixels, generator=generator, device=generator.device)
        order = keys.argsort(-1).to(x.device).expand_as(some)
        scattered[start : start + AT_ONCE] = some.gather(-1, order)
    return Examples(scattered.reshape(examples.x.shape), examples.y)
