"""Every claim that is built, at its smallest scale: judged as reproduced, and each by one line."""

import ast
import dataclasses
import inspect
import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import penstock.lab.claims
from lab.toys import done
from penstock.lab.claims.claim import SCALES, Claim
from penstock.lab.claims.listing import FILE, built_claims
from penstock.lab.runs.naming import plain

BUILT = built_claims()


@pytest.mark.parametrize("id", BUILT)
def test_a_claim_is_reproduced_at_smoke(id: str, tmp_path: Path):
    assert done(BUILT[id], tmp_path).verdict.word in ("reproduced", "reproduced as corrected")


@pytest.mark.slow
@pytest.mark.parametrize("id", BUILT)
def test_a_claim_finds_the_same_when_it_is_done_over(id: str, tmp_path: Path):
    """It hangs on its settings alone: not on what was drawn before, nor on anything global."""
    assert done(BUILT[id], tmp_path, fresh=True).verdict == done(BUILT[id], tmp_path / "again").verdict


@pytest.mark.parametrize("id", BUILT)
def test_a_claim_is_written_as_claims_are(id: str):
    claim = BUILT[id]
    assert "smoke" in claim.scales
    for name in SCALES:
        if name in claim.scales:
            assert re.fullmatch(r"[A-Z].+\.", claim.scales[name].rule), "a rule is a sentence"
            assert plain(claim.scales[name].settings) is not None
    assert re.fullmatch(r"[A-Z][^\n\t]+\.", claim.says)


@pytest.mark.parametrize("id", BUILT)
def test_every_setting_has_its_help_text(id: str):
    for name, text in help_texts(BUILT[id]).items():
        assert text, f"the setting {name} of {id} has no docstring below it"


def help_texts(claim: Claim[Any]) -> dict[str, str]:
    """What stands below each field of a claim's settings."""
    settings = type(next(iter(claim.scales.values())).settings)
    bodies = [
        ast.parse(inspect.getsource(each).lstrip()).body[0].body  # type: ignore[attr-defined]
        for each in settings.__mro__
        if dataclasses.is_dataclass(each)
    ]
    texts = dict.fromkeys((field.name for field in dataclasses.fields(settings)), "")
    for field, below in (pair for body in bodies for pair in pairwise(body)):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(below, ast.Expr)
            and isinstance(below.value, ast.Constant)
        ):
            texts[ast.unparse(field.target)] = str(below.value.value)
    return texts


def test_claims_can_be_listed_without_torch_and_without_matplotlib():
    code = """
import sys
for heavy in ("torch", "matplotlib", "numpy", "scipy", "sklearn", "polars", "plotly"):
    sys.modules[heavy] = None
from penstock.lab.claims.listing import built_claims
print(len(built_claims()))
"""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
    listed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )
    assert listed.returncode == 0, listed.stderr
    assert int(listed.stdout) == len(BUILT)


def test_every_claims_file_is_found():
    folder = Path(penstock.lab.claims.__path__[0])
    files = [path.stem for path in folder.glob("*.py") if FILE.fullmatch(path.stem)]
    assert len(files) == len(BUILT)
