"""A page's blocks, each of which writes itself."""

import pytest

from lab.report.page.reading import Reading
from penstock.lab.report.page.blocks import (
    Block,
    Code,
    Drawing,
    Equation,
    Formula,
    Matrix,
    Note,
    Prose,
    Row,
    Section,
    Sheet,
)
from penstock.lab.report.page.markup import Markup

MATRIX = Matrix("K", [[2.0, -1.0], [0.0, 0.5]], ["a", "b"], ["c", "d"], "a kernel")
SVG = Markup("<svg></svg>")
BLOCKS = [
    Prose(["a < b"]),
    Note(["so"]),
    Formula(Markup("<i>K</i>"), "K"),
    MATRIX,
    Equation([MATRIX, "=", MATRIX], "K is K"),
    Drawing(SVG, ["what it shows"]),
    Sheet(b"<svg/>", ["what it shows"], "a drawing"),
    Row([Prose(["left"]), Prose(["right"])]),
    Code(["a < b", "c"]),
]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: type(block).__name__)
def test_a_block_writes_html_that_closes(block: Block):
    assert Reading(Section("part", "A part", [block]).html()).tags


def test_a_section_is_named_by_its_heading():
    reading = Reading(Section("part", "Kernels & paths", []).html())
    assert reading.all("section") == [{"id": "part", "aria-labelledby": "part-title"}]
    assert reading.all("h2") == [{"id": "part-title"}]
    assert reading.text == ["Kernels & paths"]


def test_a_matrix_names_its_rows_and_columns_and_shades_by_size():
    reading = Reading(MATRIX.html())
    assert [each["scope"] for each in reading.all("th")] == ["col", "col", "row", "row"]
    assert [each.get("style") for each in reading.all("td")[1:]] == [
        "--shade:1.00",
        "--shade:0.50",
        "--shade:0.00",
        "--shade:0.25",
    ]
    assert [each.get("class") for each in reading.all("td")[1:]] == [None, "negative", None, None]


def test_a_matrix_of_zeros_can_be_shaded():
    assert "--shade:0.00" in Matrix("0", [[0.0]], ["a"], ["b"]).html()


def test_formulas_and_equations_can_be_read_aloud():
    assert {"role": "img", "aria-label": "K"} in Reading(Formula("K", "K").html()).all("span")
    assert Reading(Equation([MATRIX], "so").html()).all("div")[0]["aria-label"] == "so"


def test_a_sheet_carries_its_picture_within():
    (image,) = Reading(Sheet(b"<svg/>", [], "a drawing").html()).all("img")
    assert image == {"src": "data:image/svg+xml;base64,PHN2Zy8+", "alt": "a drawing"}
