"""Whether a name that the documentation uses is there: a symbol of the package, a test, a claim."""

import ast
import importlib
from functools import cache

from docs.tables import ROOT
from penstock.lab.claims.listing import built_claims, claim_rows


@cache
def symbol_exists(name: str) -> bool:
    """Whether `penstock.GateRecord.overlap` and the like can be imported."""
    parts = name.split(".")
    for taken in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:taken]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[taken:]:
            if not hasattr(thing, attribute):
                return False
            thing = getattr(thing, attribute)
        return True
    return False


@cache
def tests_of(file: str) -> frozenset[str]:
    """The test functions of a file below `tests`."""
    tree = ast.parse((ROOT / "tests" / file).read_text())
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    return frozenset(node.name for node in functions if node.name.startswith("test_"))


def has_test(name: str) -> bool:
    """Whether `paths/test_features.py` or `paths/test_features.py::test_x` is there, below `tests`."""
    file, _, function = name.partition("::")
    return (ROOT / "tests" / file).is_file() and (not function or function in tests_of(file))


def claims_known() -> list[str]:
    """Every claim of the papers, built or not."""
    return list(claim_rows())


def claim_is_known(name: str) -> bool:
    return name in claim_rows()


def claim_is_built(name: str) -> bool:
    return name in built_claims()
