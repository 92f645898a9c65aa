"""Every example of the README, the pages and the docstrings runs, and prints what it shows."""

import contextlib
import io
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from docs.blocks import Block, agrees, blocks, commands, pages
from docs.tables import ROOT

PAGES = pages()
#: Commands that take longer than a test may: the README's two, and what they build.
NOT_RUN_HERE = ("make", "pip", "git", ".venv/bin/python", ".venv/bin/pip")


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def run(block: Block, namespace: dict[str, object]) -> str:
    printed = io.StringIO()
    # the page's own lines in a traceback
    code = compile("\n" * (block.line - 1) + block.code, str(block.page), "exec")
    with contextlib.redirect_stdout(printed):
        exec(code, namespace)
    return printed.getvalue()


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PENSTOCK_RUNS", str(tmp_path / "runs"))
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_python_of_a_page_runs_and_prints_what_is_shown(page: Path, empty_folder: Path):
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.language != "python" or block.not_run:
            continue
        torch.manual_seed(0)
        printed = run(block, namespace)
        if block.shown is None:
            assert not printed.strip(), f"{block.place} prints what the page does not show:\n{printed}"
        else:
            assert agrees(printed, block.shown), (
                f"{block.place} prints\n{printed}\nand the page shows\n{block.shown}"
            )


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_commands_of_a_page_run_and_print_what_is_shown(page: Path, empty_folder: Path):
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "100",
    }
    for block in blocks(page):
        if block.language != "console" or block.not_run:
            continue
        for command in commands(block):
            words = shlex.split(command.line, comments=True)
            if words[0] in NOT_RUN_HERE:
                continue
            assert words[0] == "penstock", f"{command.place} runs {words[0]}, which no test knows"
            done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
            assert "Traceback" not in done.stderr, f"{command.place}: {command.line}\n{done.stderr}"
            if command.shown:
                printed = done.stdout or done.stderr  # what is refused says so on stderr
                assert agrees(printed, command.shown), f"{command.place}: {command.line} prints\n{printed}"
            else:
                assert done.returncode == 0, f"{command.place}: {command.line}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_page_has_no_block_of_a_kind_that_no_test_looks_at(page: Path):
    known = {"python", "text", "console", "yaml", "toml"}
    assert {block.language for block in blocks(page)} <= known
    assert page.read_text().count("```") == 2 * len(list(blocks(page)))


#: Runs the examples of every docstring as a reader would: without the hook that checks annotations, and with
#: what a reader has at hand, a small network, data for it, an optimizer.
DOCSTRINGS = """
import doctest, importlib, pkgutil, sys
import numpy, torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
import penstock

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 1))
x, y = torch.randn(8, 2), torch.randn(8, 1)
known = {name: getattr(penstock, name) for name in penstock._HOME}
known |= {"penstock": penstock, "torch": torch, "nn": nn, "np": numpy, "model": model, "x": x, "y": y}
known |= {"loader": DataLoader(TensorDataset(x, y), batch_size=4), "loss_of": nn.functional.mse_loss}
known |= {"optimizer": torch.optim.SGD(model.parameters(), lr=0.01), "record": penstock.capture(model, x)}
known |= {"labels": torch.tensor([7, 4, 7, 7, 4, 4, 7, 4])}
flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
failed = attempted = 0
for module in pkgutil.walk_packages(penstock.__path__, "penstock."):
    if module.name.endswith("__main__"):
        continue
    torch.manual_seed(0)
    results = doctest.testmod(importlib.import_module(module.name), extraglobs=known, optionflags=flags)
    failed, attempted = failed + results.failed, attempted + results.attempted
print(f"{attempted} examples")
sys.exit(bool(failed) or attempted < 20)
"""


def test_the_examples_of_the_docstrings_are_true(empty_folder: Path):
    done = subprocess.run([sys.executable, "-c", DOCSTRINGS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_readme_shows_its_two_commands_and_ten_lines():
    shown = list(blocks(ROOT / "README.md"))
    typed = [
        command.line.split("#")[0].strip()
        for block in shown
        if block.language == "console"
        for command in commands(block)
    ]
    assert typed == ["make demo", "make test"]
    (example,) = [block for block in shown if block.language == "python"]
    assert len([line for line in example.code.splitlines() if line.strip()]) == 10
    assert example.shown
