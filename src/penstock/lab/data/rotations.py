"""Rotated images: input domains of R Section 5 (Figure 7, Appendix D)."""

import torch
from jaxtyping import Float, Num
from torch import Tensor
from torch.nn import functional

from penstock.errors import PenstockError
from penstock.lab.data.pixels import check_floating

__all__ = ["rotate"]

#: Images that are rotated at once; what is needed for a few fits in a cache.
AT_ONCE = 512


def rotate(
    x: Num[Tensor, "n *image"], degrees: float | int | Float[Tensor, " m"]
) -> Float[Tensor, "n *image"]:
    """Images turned about their centre, against the clock, by one angle or one angle each; black comes in at
    the corners.

    A pixel of the result is the bilinear mean of the four pixels of the input around the point it comes from.
    R's domain i of M is turned by 180 i / M degrees (its code: 270).

    >>> image = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    >>> rotate(image, 90).round(decimals=4)
    tensor([[[[2., 4.],
              [1., 3.]]]])
    """
    check_floating(x, "rotating")
    if x.ndim != 4:
        raise PenstockError(
            f"images to rotate are n × channels × height × width, and these are {tuple(x.shape)}"
        )
    angles = torch.as_tensor(degrees, dtype=torch.float64).deg2rad()
    turns = _turns(angles, height=x.shape[2], width=x.shape[3]).to(x)
    if angles.ndim == 0:
        grid = functional.affine_grid(turns[None], [1, *x.shape[1:]], align_corners=False)
        return torch.cat([_sample(some, grid.expand(len(some), -1, -1, -1)) for some in x.split(AT_ONCE)])
    if len(angles) != len(x):
        raise PenstockError(
            f"there are {len(x):,} images and {len(angles):,} angles; give one angle, or one each"
        )
    return torch.cat(
        [
            _sample(some, functional.affine_grid(turn, list(some.shape), align_corners=False))
            for some, turn in zip(x.split(AT_ONCE), turns.split(AT_ONCE), strict=True)
        ]
    )


def _turns(angles: Float[Tensor, "*n"], height: int, width: int) -> Float[Tensor, "*n 2 3"]:
    """Where each point of the result comes from, in torch's coordinates: -1 to 1 across the width and down
    the height, so that on an image that is not square a turn also scales."""
    cos, sin, none = angles.cos(), angles.sin(), torch.zeros_like(angles)
    across = torch.stack([cos, -sin * height / width, none], dim=-1)
    down = torch.stack([sin * width / height, cos, none], dim=-1)
    return torch.stack([across, down], dim=-2)


def _sample(x: Float[Tensor, "n c h w"], grid: Float[Tensor, "n h w 2"]) -> Float[Tensor, "n c h w"]:
    return functional.grid_sample(x, grid, mode="bilinear", padding_mode="zeros", align_corners=False)
