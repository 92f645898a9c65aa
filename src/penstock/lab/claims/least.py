"""What a claim's settings must at least be for its run to mean anything: asked where settings are made."""

from typing import Any

from penstock.errors import PenstockError

__all__ = ["check_least", "check_positive", "check_sigma", "widths_of"]


def check_least(settings: Any, **least: int) -> None:
    """Refuses a number below the one given here; a setting that lists things counts them."""
    for name, fewest in least.items():
        value = getattr(settings, name)
        count = len(value) if isinstance(value, tuple) else value
        if count < fewest:
            raise PenstockError(
                f"the setting {name} is {value!r}, which shows nothing; give {fewest} or more"
            )


def check_positive(settings: Any, *names: str) -> None:
    """Refuses numbers that are not above zero, or without an end."""
    for name in names:
        value = getattr(settings, name)
        if not 0 < value < float("inf"):
            raise PenstockError(
                f"the setting {name} is {value:g}, which shows nothing; give a number above 0"
            )


def check_sigma(sigma: float) -> None:
    """Refuses weights without a size, whose kernels are all zero, or without an end."""
    if not 0 < sigma < float("inf"):
        raise PenstockError(f"the setting sigma is {sigma:g}, and weights ±σ need a size above 0")


def widths_of(network: str) -> tuple[int, ...]:
    """The widths of a network that is named by them: `2-3-3-1`."""
    widths = network.split("-")
    if len(widths) < 2 or not all(width.isdecimal() and int(width) for width in widths):
        raise PenstockError(f"{network!r} names no network; write its widths, inputs first, as in 2-3-3-1")
    return tuple(map(int, widths))
