"""Penstock opens up ReLU networks: which gates are open, which paths they leave, what kernel the paths make.

The public names are loaded when first used, so that `import penstock` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from penstock.decoupled.decoupling import decouple as decouple
    from penstock.decoupled.information import gate_information as gate_information
    from penstock.decoupled.network import GatedNetwork as GatedNetwork
    from penstock.decoupled.regimes import regime as regime
    from penstock.decoupled.sensitive_gates import sensitivity as sensitivity
    from penstock.errors import PenstockError as PenstockError
    from penstock.gates.gate import Hard as Hard
    from penstock.gates.gate import Soft as Soft
    from penstock.gates.monitor import Monitor as Monitor
    from penstock.gates.record import GateRecord as GateRecord
    from penstock.gates.recording import capture as capture
    from penstock.gates.switching import Switches as Switches
    from penstock.model.adapter import adapt as adapt
    from penstock.paths.active import active_paths as active_paths
    from penstock.paths.count import count_paths as count_paths
    from penstock.paths.features import npf as npf
    from penstock.paths.listing import list_paths as list_paths
    from penstock.paths.norm import path_norm as path_norm
    from penstock.paths.tangent import vtk as vtk
    from penstock.paths.values import npv as npv

_HOME = {
    "PenstockError": "penstock.errors",
    "Hard": "penstock.gates.gate",
    "Soft": "penstock.gates.gate",
    "GateRecord": "penstock.gates.record",
    "capture": "penstock.gates.recording",
    "Switches": "penstock.gates.switching",
    "Monitor": "penstock.gates.monitor",
    "adapt": "penstock.model.adapter",
    "decouple": "penstock.decoupled.decoupling",
    "regime": "penstock.decoupled.regimes",
    "GatedNetwork": "penstock.decoupled.network",
    "sensitivity": "penstock.decoupled.sensitive_gates",
    "gate_information": "penstock.decoupled.information",
    "list_paths": "penstock.paths.listing",
    "active_paths": "penstock.paths.active",
    "count_paths": "penstock.paths.count",
    "npf": "penstock.paths.features",
    "npv": "penstock.paths.values",
    "path_norm": "penstock.paths.norm",
    "vtk": "penstock.paths.tangent",
}

__all__ = ["__version__", *_HOME]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'penstock' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
