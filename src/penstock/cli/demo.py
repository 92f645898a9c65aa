"""`penstock demo`: the tour."""
from collections.abc import Sequence
def demo(arguments: Sequence[str]) -> int:
    return 0
