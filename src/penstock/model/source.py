"""Where in the user's own source something happens."""

import sysconfig
from pathlib import Path
from types import CodeType, FrameType

import jaxtyping
import torch

__all__ = ["line_of", "written_by_user"]

_NOT_THE_USERS = (
    str(Path(torch.__file__).parent),
    str(Path(__file__).parent.parent),
    # what checks shapes while a program runs
    str(Path(jaxtyping.__file__).parent),
    "<",
)
_STANDARD_LIBRARY = sysconfig.get_paths()["stdlib"]


def written_by_user(code: CodeType) -> bool:
    """Whether this code is neither torch's, Penstock's, Python's own, nor made up by a program."""
    file = code.co_filename
    standard = file.startswith(_STANDARD_LIBRARY) and "-packages" not in file
    return not standard and not file.startswith(_NOT_THE_USERS)


def line_of(frame: FrameType | None) -> str:
    """`line 31 of model.py`: where the user's own code stands in this call, or nothing."""
    while frame is not None and not written_by_user(frame.f_code):
        frame = frame.f_back
    return "" if frame is None else f"line {frame.f_lineno} of {Path(frame.f_code.co_filename).name}"
