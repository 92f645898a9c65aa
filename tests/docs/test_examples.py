"""Every example of the README, the pages and the docstrings runs, and prints what it shows."""

import contextlib
import doctest
import importlib
import importlib.util
import io
import os
import pkgutil
import shlex
import subprocess
import sys
from pathlib import Path

import numpy
import pytest
import torch

import penstock
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
            printed = done.stdout + done.stderr
            assert "Traceback" not in printed, f"{command.place}: {command.line}\n{printed}"
            if command.shown:
                assert agrees(printed, command.shown), f"{command.place}: {command.line} prints\n{printed}"
            else:
                assert done.returncode == 0, f"{command.place}: {command.line}\n{printed}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_page_has_no_block_of_a_kind_that_no_test_looks_at(page: Path):
    known = {"python", "text", "console", "yaml", "toml"}
    assert {block.language for block in blocks(page)} <= known
    assert page.read_text().count("```") == 2 * len(list(blocks(page)))


def modules_with_examples() -> list[str]:
    """Every module of the package whose source holds an example."""
    found = []
    for module in pkgutil.walk_packages(penstock.__path__, "penstock."):
        spec = importlib.util.find_spec(module.name)
        if spec and spec.origin and ">>> " in Path(spec.origin).read_text():
            found.append(module.name)
    return found


@pytest.mark.parametrize("module", modules_with_examples())
def test_the_examples_of_the_docstrings_are_true(module: str, empty_folder: Path):
    torch.manual_seed(0)
    known = {each: getattr(penstock, each) for each in penstock._HOME}
    known |= {"penstock": penstock, "torch": torch, "nn": torch.nn, "np": numpy}
    thing = importlib.import_module(module)
    results = doctest.testmod(
        thing, extraglobs=known, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    )
    assert results.attempted > 0, f"no example of {module} was found where doctest looks"
    assert results.failed == 0


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
