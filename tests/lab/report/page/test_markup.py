"""Text is escaped once, markup never; numbers are written as people write them."""

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.lab.report.page.markup import Markup, agreement, join, number, tag


@given(st.text())
def test_text_reads_back_as_it_was(text: str):
    inside = tag("p", text).removeprefix("<p>").removesuffix("</p>")
    assert html.unescape(inside) == text
    assert "<" not in inside


@given(st.text())
def test_an_attribute_reads_back_as_it_was(text: str):
    written = tag("p", title=text).removeprefix('<p title="').removesuffix('"></p>')
    assert html.unescape(written) == text
    assert '"' not in written


def test_markup_is_kept_and_tags_nest():
    assert tag("p", "a < b, ", tag("b", "c")) == "<p>a &lt; b, <b>c</b></p>"
    assert join([Markup("<br>"), "<br>"], " ") == "<br> &lt;br&gt;"


def test_attributes_are_spelt_as_html_spells_them():
    assert tag(
        "input", class_="big", aria_label="so", value=0, hidden=True, checked=False, id=None, x=0.5
    ) == ('<input class="big" aria-label="so" value="0" hidden x="0.5">')


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (3.0, "3"),
        (-1240.0, "−1240"),
        (0.03868, "0.03868"),
        (1.25e-16, "1.25·10⁻¹⁶"),
        (-4e10, "−4·10¹⁰"),
    ],
)
def test_a_number_has_a_true_minus_no_minus_zero_and_raised_powers(value: float, text: str):
    assert number(value) == text


@given(st.floats(-1e6, 1e6))
def test_a_number_is_written_to_four_digits(value: float):
    written = number(value).replace("−", "-")
    mantissa, _, power = written.partition("·10")
    power = power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    assert float(mantissa) * 10.0 ** int(power or 0) == pytest.approx(value, rel=1e-3)


def test_agreement_says_by_how_much():
    assert agreement(0.0) == "are equal to the last bit"
    assert agreement(2.2e-16) == "differ by 2.2·10⁻¹⁶"
