"""The house: which room may lean on which, and what may be imported where (`docs/architecture.md`)."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from jaxtyping import TypeCheckError

import penstock
from penstock.gates.packed import pack

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "penstock"

#: A room may import the rooms above it. The whole plan stands here, so that a new room finds its place.
ORDER = (
    "errors",
    "files",
    "model",
    "compiled",
    "gates",
    "training",
    "decoupled",
    "walk",
    "paths",
    "kernels",
    "gdln",
    "student",
    "lab",
    "cli",
)

#: What the rooms that compute may import at their top, beside the standard library and Penstock itself.
COMPUTES_WITH = {"torch", "numpy", "scipy", "networkx", "safetensors", "jaxtyping"}
#: What talks, keeps or draws: the only places that may import more at their top.
TALKS = ("lab/runs/", "lab/report/", "cli.py", "cli/")


@dataclass(frozen=True)
class Import:
    """One import of one file: `module` and, of a `from` import, the `name` taken from it."""

    file: str
    line: int
    module: str
    name: str | None
    at_top: bool
    type_checking: bool

    @property
    def package(self) -> str:
        return self.module.split(".")[0]

    def __str__(self) -> str:
        return f"{self.file}:{self.line} imports {self.module}" + (f" ({self.name})" if self.name else "")


def relative(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def room(file: str) -> str:
    """The room of a file. `__main__.py` is the command's other door."""
    return file.split("/")[0].removesuffix(".py").replace("__main__", "cli")


def is_type_checking(node: ast.If) -> bool:
    return "TYPE_CHECKING" in ast.unparse(node.test)


def walk(body: list[ast.stmt], at_top: bool, type_checking: bool) -> Iterator[tuple[ast.stmt, bool, bool]]:
    """Every statement, whether it runs on import, and whether only type checkers see it."""
    for node in body:
        yield node, at_top, type_checking
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        hidden = isinstance(node, ast.If) and is_type_checking(node)
        for field in ("body", "orelse", "finalbody"):
            yield from walk(
                getattr(node, field, []), at_top and not inside, type_checking or (hidden and field == "body")
            )
        for handler in getattr(node, "handlers", []) + getattr(node, "cases", []):
            yield from walk(handler.body, at_top, type_checking)


def imports_of(path: Path) -> Iterator[Import]:
    file = relative(path)
    package = ("penstock", *path.relative_to(SOURCE).parent.parts)
    for node, at_top, hidden in walk(ast.parse(path.read_text()).body, True, False):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(file, node.lineno, alias.name, None, at_top, hidden)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*base, *(node.module or "").split("."))).rstrip(".")
            for alias in node.names:
                yield Import(file, node.lineno, module, alias.name, at_top, hidden)


FILES = sorted(SOURCE.rglob("*.py"))
IMPORTS = [each for path in FILES for each in imports_of(path)]


def home(name: str) -> str:
    """The room behind `from penstock import name`."""
    where = penstock._HOME.get(name)
    return where.split(".")[1] if where else name


def leans_on(each: Import) -> str | None:
    """The room of Penstock that an import reaches, if it reaches one."""
    if each.package != "penstock":
        return None
    parts = each.module.split(".")
    if len(parts) > 1:
        return parts[1]
    return home(each.name) if each.name and each.name != "__version__" else None


def test_a_room_imports_only_the_rooms_above_it():
    wrong = [
        str(each)
        for each in IMPORTS
        if each.file != "__init__.py"
        and (target := leans_on(each)) not in (None, room(each.file))
        and (target not in ORDER or ORDER.index(target) >= ORDER.index(room(each.file)))
    ]
    assert wrong == []


def test_no_room_reaches_the_others_through_the_package():
    """`import penstock` would hide which room is leant on; the laboratory and the command stand on all."""
    wrong = [
        e for e in IMPORTS if e.module == "penstock" and e.name is None and room(e.file) not in ("lab", "cli")
    ]
    assert [str(each) for each in wrong] == []


def test_every_room_is_in_the_plan():
    folders = {path.name for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    modules = {room(path.name) for path in SOURCE.glob("*.py")} - {"__init__"}
    assert folders | modules <= set(ORDER)


def test_the_architecture_page_lists_the_rooms_there_are_in_their_order():
    page = (ROOT / "docs" / "architecture.md").read_text()
    table = page.split("## The rooms")[1].split("\n## ")[0]
    listed = re.findall(r"^\| `([a-z]+)(?:/|\.py)?`", table, flags=re.MULTILINE)
    there = {room(relative(path)) for path in FILES} - {"__init__"}
    assert listed == [each for each in ORDER if each in there]


def test_only_compiled_knows_a_compiler():
    compilers = {"numba", "triton", "llvmlite"}
    assert [
        str(each) for each in IMPORTS if each.package in compilers and room(each.file) != "compiled"
    ] == []


def test_what_computes_imports_little_at_its_top():
    wrong = [
        str(each)
        for each in IMPORTS
        if each.at_top
        and not each.type_checking
        and not each.file.startswith(TALKS)
        and each.package not in COMPUTES_WITH | {"penstock"} | set(sys.stdlib_module_names)
        and not (room(each.file) == "compiled" and each.package in ("numba", "triton"))
    ]
    assert wrong == []


def test_shapes_are_imported_for_real():
    """An annotation that only type checkers can see is not checked while the tests run."""
    assert [str(each) for each in IMPORTS if each.package == "jaxtyping" and each.type_checking] == []


def test_no_module_is_named_like_what_it_defines():
    """`penstock.kernels.ntk` would be a module or a function, depending on what was imported first."""
    wrong = [
        relative(path)
        for path in FILES
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == path.stem
    ]
    assert wrong == []


def run_python(code: str) -> str:
    """What a fresh interpreter prints, without the hook that the tests install."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_penstock_loads_nothing_heavy():
    assert (
        run_python(
            "import sys, penstock; print([m for m in ('torch', 'numpy', 'scipy') if m in sys.modules])"
        )
        == "[]"
    )


def test_everything_runs_without_a_compiler():
    """On a bare node Numba may be missing: every room but `compiled` itself must still import."""
    code = """
import importlib, pkgutil, sys
sys.modules["numba"] = sys.modules["triton"] = None
import penstock
for name in penstock._HOME:
    getattr(penstock, name)
for module in pkgutil.walk_packages(penstock.__path__, "penstock."):
    if module.name.split(".")[1] not in ("compiled", "lab", "cli"):
        importlib.import_module(module.name)
print("all there")
"""
    assert run_python(code) == "all there"


# What `import penstock` promises


def typed_names() -> dict[str, str]:
    """The names that `penstock/__init__.py` imports for type checkers, and from where."""
    return {
        each.name: each.module
        for each in imports_of(SOURCE / "__init__.py")
        if each.type_checking and each.name
    }


def test_the_public_names_are_the_same_for_python_and_for_type_checkers():
    assert typed_names() == penstock._HOME


def test_all_is_the_version_and_the_public_names():
    assert list(penstock.__all__) == ["__version__", *penstock._HOME]


@pytest.mark.parametrize("name", sorted(penstock._HOME))
def test_a_public_name_is_where_the_package_says(name: str):
    thing = getattr(penstock, name)
    assert thing.__module__ == penstock._HOME[name]


#: Public names that no paper speaks of.
OF_NO_PAPER = {"PenstockError", "adapt", "Monitor"}
KINDS = "Definition|Proposition|Lemma|Theorem|Corollary|Table|Figure|Section|Equation|Appendix"
PLACE = rf"\b[NDRL] (?:{KINDS})s? [(\w]"


@pytest.mark.parametrize("name", sorted(penstock._HOME))
def test_a_public_name_is_documented_with_its_place_and_an_example(name: str):
    text = getattr(penstock, name).__doc__ or ""
    assert ">>> " in text or "```python" in text, f"the docstring of penstock.{name} shows no example"
    if name not in OF_NO_PAPER:
        assert re.search(PLACE, text), f"the docstring of penstock.{name} names no place in a paper"


def test_a_wrong_shape_is_caught_while_the_tests_run():
    """The hook of `conftest.py` reads annotations; a shape that only type checkers saw would pass here."""
    with pytest.raises(TypeCheckError):
        pack(torch.zeros(64, dtype=torch.bool))  # a matrix is wanted, n × m
    with pytest.raises(TypeCheckError):
        penstock.Hard().value(torch.zeros(3, dtype=torch.long))  # floating point is wanted
