"""What each operation of torch does to shadows, one family of operations a file.

A rule takes an `Applied` and returns the shadow of the operation's result. An operation without a rule leads
no path on. In-place forms and views need none of their own: see `carrying.py` and `shadows.py`.
"""

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import Any

__all__ = ["Rule", "rule_for"]

Rule = Callable[[Any], Any]


def rule_for(name: str) -> Rule | None:
    """The rule for an operation of this name, if there is one."""
    return _rules().get(name)


@cache
def _rules() -> dict[str, Rule]:
    """Every file here lists its own in `RULES`."""
    rules: dict[str, Rule] = {}
    for found in pkgutil.iter_modules(__path__):
        rules |= importlib.import_module(f"{__name__}.{found.name}").RULES
    return rules
