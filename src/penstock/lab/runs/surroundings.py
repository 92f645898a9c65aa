"""Where and with what a run was made."""

import importlib.metadata
import os
import platform
from typing import Any

import penstock

__all__ = ["machine", "versions"]

LIBRARIES = ("torch", "numpy", "scipy", "numba", "networkx", "scikit-learn", "safetensors")


def versions() -> dict[str, str]:
    """Of Penstock, Python and what computes, read without importing any of it."""
    found = {"penstock": penstock.__version__, "python": platform.python_version()}
    for library in LIBRARIES:
        try:
            found[library] = importlib.metadata.version(library)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def machine(device: str) -> dict[str, Any]:
    about = {
        "system": platform.platform(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "device": device,
    }
    if device.startswith("cuda"):
        import torch

        about["gpu"] = torch.cuda.get_device_name(device)
    return about
