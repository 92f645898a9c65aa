"""What is compiled: the only room that imports Numba, and everything runs without it, only slower."""

__all__ = ["available"]


def available() -> bool:
    """Whether Numba is installed, works with this NumPy, and has not been told to leave code uncompiled."""
    try:
        from numba.core import config
    except ImportError:
        return False
    return not config.DISABLE_JIT  # pyright: ignore[reportAttributeAccessIssue]
