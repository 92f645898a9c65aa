"""What Penstock says when it cannot answer.

Every refusal is a `PenstockError`: one sentence that names the thing and the way out. It is a `ValueError`,
so that code which knows nothing of Penstock can still catch it.
"""

import difflib
from collections.abc import Iterable

__all__ = ["PenstockError", "UnknownName", "nearest"]


class PenstockError(ValueError):
    """A question that Penstock cannot answer, with the reason and the way out in one sentence.

    >>> try:
    ...     capture(model, x.double())
    ... except PenstockError as error:
    ...     print(error)
    x is torch.float64 and the model is torch.float32; ...
    """


class UnknownName(PenstockError, KeyError):
    """A name that is not there. Also a `KeyError`, so that `in` and `.get` of a mapping work."""

    def __init__(self, kind: str, name: object, known: Iterable[str]):
        super().__init__(f"there is no {kind} called {name!r}; {nearest(name, known)}")

    # KeyError shows the repr of its argument, quotes and all
    __str__ = ValueError.__str__


def nearest(name: object, known: Iterable[str], *, count: int = 3) -> str:
    """The known names that look most like `name`, as the end of a sentence."""
    names = list(known)
    if not names:
        return "there are none"
    close = difflib.get_close_matches(str(name), names, n=count, cutoff=0.5)
    if close:
        return "the nearest are " + ", ".join(close) if len(close) > 1 else f"the nearest is {close[0]}"
    shown = ", ".join(names[:count])
    return f"there are {shown}" + (f" and {len(names) - count} more" if len(names) > count else "")
