"""`constraints.txt` pins everything that any extra installs, so that an environment is the same tomorrow."""

import importlib.metadata as metadata
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
NAMES = [line.partition("==")[0] for line in (ROOT / "constraints.txt").read_text().splitlines()[1:]]
PINNED = {canonicalize_name(name) for name in NAMES}


def needs(package: str, extras: frozenset[str]) -> Iterator[Requirement]:
    """What a package asks for on this machine, if it is installed."""
    try:
        requires = metadata.requires(package) or []
    except metadata.PackageNotFoundError:
        return
    for requirement in map(Requirement, requires):
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in (extras or {""})):
            yield requirement


def reached(package: str, extras: frozenset[str]) -> set[str]:
    """All that comes with a package, as far as it is installed, and what it asks for beyond."""
    waiting, seen = [(package, extras)], set()
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        waiting += [(canonicalize_name(each.name), frozenset(each.extras)) for each in needs(*one)]
    return {name for name, _ in seen}


def test_everything_that_an_extra_installs_is_pinned():
    extras = frozenset(metadata.metadata("penstock").get_all("Provides-Extra") or ())
    assert {"scale", "report", "bench", "docs", "dev"} == extras
    wanted = reached("penstock", extras) | {"hatchling"}
    assert {
        name for name in wanted - {"penstock"} if not name.startswith(("nvidia-", "cuda-", "triton"))
    } - PINNED == set()


def test_the_pins_are_sorted_by_name():
    names = [canonicalize_name(name) for name in NAMES]
    assert names == sorted(set(names))


def test_no_pin_names_a_build_or_an_address():
    for line in (ROOT / "constraints.txt").read_text().splitlines()[1:]:
        assert line.count("==") == 1
        assert "+" not in line
        assert "@" not in line
