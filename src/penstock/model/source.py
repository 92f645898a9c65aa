"""Where in the user's own source something happens."""

import os
import sysconfig
from pathlib import Path
from types import FrameType

import jaxtyping
import torch

__all__ = ["is_the_users", "line_of", "line_text"]


def _folder(path: Path) -> str:
    return str(path) + os.sep


_OURS = Path(__file__).parent.parent
# jaxtyping checks shapes while a program runs; the others are files that no file holds
_NOT_THE_USERS = (
    _folder(Path(torch.__file__).parent),
    _folder(Path(jaxtyping.__file__).parent),
    _folder(_OURS),
    "<string>",
    "<@",
    "<eval_with_key>",
    "<frozen",
)
# its networks are modules like anybody's
_LABORATORY = _folder(_OURS / "lab")
_STANDARD_LIBRARY = sysconfig.get_paths()["stdlib"]


def is_the_users(file: str) -> bool:
    """Whether this file is neither torch's, Penstock's, Python's own, nor made up by a program. Packages that
    modules come in count as the user's."""
    standard = file.startswith(_STANDARD_LIBRARY) and "-packages" not in file
    return file.startswith(_LABORATORY) or (not standard and not file.startswith(_NOT_THE_USERS))


def line_text(file: str, line: int) -> str:
    """`line 31 of model.py`."""
    return f"line {line} of {'a notebook cell' if 'ipykernel' in file else Path(file).name}"


def line_of(frame: FrameType | None) -> str:
    """The line of the user's own code that stands in this call, or nothing."""
    while frame is not None and not is_the_users(frame.f_code.co_filename):
        frame = frame.f_back
    return "" if frame is None else line_text(frame.f_code.co_filename, frame.f_lineno)
