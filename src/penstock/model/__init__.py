"""What is true of a user's module and inputs whatever the question: what is accepted, how it is called, how
it is left."""

from penstock.model.adapter import Adapted, adapt
from penstock.model.calling import call, eager
from penstock.model.checks import check, check_module, check_output
from penstock.model.found import left_as_found
from penstock.model.inputs import Inputs, batches, how_many, whole
from penstock.model.parts import describe, layers
from penstock.model.place import Placement, placement

__all__ = [
    "Adapted",
    "Inputs",
    "Placement",
    "adapt",
    "batches",
    "call",
    "check",
    "check_module",
    "check_output",
    "describe",
    "eager",
    "how_many",
    "layers",
    "left_as_found",
    "placement",
    "whole",
]
