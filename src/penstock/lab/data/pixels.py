"""Pixels: bytes as the files hold them, numbers in [0, 1] as the papers use them."""

import torch
from jaxtyping import Float, Num, UInt8
from torch import Tensor

from penstock.errors import PenstockError

__all__ = ["check_floating", "per_image", "scale_bytes"]

WHITE = 255


def scale_bytes(
    x: UInt8[Tensor, "n *shape"], dtype: torch.dtype = torch.float32
) -> Float[Tensor, "n *shape"]:
    """Bytes divided by 255, as all of N's and D's experiments use them.

    >>> scale_bytes(torch.tensor([[0, 51, 255]], dtype=torch.uint8))
    tensor([[0.0000, 0.2000, 1.0000]])
    """
    return x.to(dtype).div_(WHITE)


def check_floating(x: Tensor, what: str) -> None:
    """Refuse bytes where numbers are to be mixed: `what` says what was to be done."""
    if not x.is_floating_point():
        raise PenstockError(
            f"{what} needs pixels in floating point, not {x.dtype}; load the data with dtype=torch.float32, "
            "or convert it with its .to"
        )


def per_image(x: Num[Tensor, "n *shape"]) -> tuple[int, int]:
    """How many values the pixels of one image have (its channels), and how many pixels an image has.

    An image is channels × height × width; inputs without that shape have one channel.
    """
    channels = x.shape[1] if x.ndim == 4 else 1
    return channels, x[0].numel() // channels
