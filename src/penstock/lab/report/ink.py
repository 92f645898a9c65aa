"""The colours that the figures share: they stay apart for colour-blind readers and in print."""

__all__ = ["ACTIVE", "FAINT", "INK", "PALETTE"]

INK = "#3c4043"
"""Text, outlines."""

FAINT = "#c9cdd2"
"""What is there, and not spoken of: wires, axes, grids."""

ACTIVE = "#d0342c"
"""What is open: N Figure 1's red."""

PALETTE = ("#0072b2", "#d98200", "#009e73", "#cc79a7", "#56b4e9", "#7a5195")
"""One colour after another, for things of one kind."""
