"""Where in the user's own source something happens."""

from pathlib import Path
from types import CodeType, FrameType

import torch

__all__ = ["line_of", "written_by_user"]

_NOT_THE_USERS = (str(Path(torch.__file__).parent), str(Path(__file__).parent.parent), "<")


def written_by_user(code: CodeType) -> bool:
    """Whether this code is neither torch's nor Penstock's nor made up by a program."""
    return not code.co_filename.startswith(_NOT_THE_USERS)


def line_of(frame: FrameType | None) -> str:
    """`line 31 of model.py`: where the user's own code stands in this call, or nothing where there is none."""
    while frame is not None and not written_by_user(frame.f_code):
        frame = frame.f_back
    return "" if frame is None else f"line {frame.f_lineno} of {Path(frame.f_code.co_filename).name}"
