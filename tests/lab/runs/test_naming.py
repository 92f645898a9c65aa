"""One name for one run: settings in whatever order or spelling, and a new name for whatever differs."""

import enum
import math
from dataclasses import dataclass, make_dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.toys import coin_claim
from penstock.errors import PenstockError
from penstock.lab.runs.naming import NAME, canonical, folder_name, identity, plain

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-100, 100) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=6,
)


def name_of(settings: Any) -> str:
    return folder_name({"claim": "N2", "scale": "smoke", "settings": plain(settings), "rule": "r"})


def test_a_name_is_the_same_on_every_machine_and_for_ever():
    """Folders written today are found tomorrow: this name is a constant of the format."""
    claim = coin_claim()
    assert folder_name(identity(claim, "smoke", claim.scales["smoke"].settings)) == "N90-smoke-ce7a8fb44282"


@given(st.dictionaries(st.text("abcdef", min_size=1, max_size=4), VALUES, max_size=5))
def test_the_order_of_settings_does_not_matter(settings: dict[str, Any]):
    assert name_of(settings) == name_of(dict(reversed(settings.items())))


@given(VALUES, VALUES)
def test_different_settings_are_different_runs(a: Any, b: Any):
    same = canonical(plain(a)) == canonical(plain(b))
    assert (name_of({"x": a}) == name_of({"x": b})) == same


def test_a_number_is_one_setting_however_it_is_spelt():
    assert name_of({"step": 1}) == name_of({"step": 1.0})
    assert name_of({"on": 1}) != name_of({"on": True})
    assert name_of({"step": 0.1}) != name_of({"step": 0.1 + 1e-16})


def test_a_setting_added_later_with_its_default_is_another_run():
    before = make_dataclass("Settings", [("epochs", int, 5)], frozen=True)()
    after = make_dataclass("Settings", [("epochs", int, 5), ("momentum", float, 0.0)], frozen=True)()
    assert name_of(before) != name_of(after)


def test_a_setting_may_be_a_word_of_an_enumeration_a_path_or_a_dataclass():
    class Law(enum.Enum):
        SIGN = 1

    @dataclass(frozen=True)
    class Inner:
        law: Law = Law.SIGN
        bound: float = math.inf
        where: Path = Path("a/b")

    assert plain({"inner": Inner()}) == {"inner": {"law": "SIGN", "bound": {"number": "inf"}, "where": "a/b"}}


def test_a_setting_that_is_no_text_is_refused_by_name():
    with pytest.raises(PenstockError, match="the setting draw is a function, which no file can hold as text"):
        plain({"draw": plain})


def test_a_name_shows_claim_and_scale():
    found = NAME.fullmatch(name_of({}))
    assert found is not None
    assert (found["claim"], found["scale"]) == ("N2", "smoke")
