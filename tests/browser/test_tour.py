"""The page of the demo in a real browser: quiet, in need of nothing, and at one's fingertips."""

import re

import pytest
from playwright.sync_api import expect

from browser.conftest import Open

pytestmark = pytest.mark.browser

EVERYWHERE = pytest.mark.parametrize(
    ("width", "dark"), [(1280, False), (1280, True), (390, False), (390, True), (320, False)]
)


@EVERYWHERE
def test_the_page_opens_without_a_complaint_and_fetches_nothing(visit: Open, width: int, dark: bool):
    found = visit(width, dark)
    found.page.wait_for_load_state("networkidle")
    assert found.complaints == []
    assert [url for url in found.requests if not url.startswith("data:")] == [found.page.url]


@EVERYWHERE
def test_nothing_is_wider_than_the_window(visit: Open, width: int, dark: bool):
    page = visit(width, dark).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@EVERYWHERE
def test_text_can_be_read_on_its_ground(visit: Open, width: int, dark: bool):
    """Contrast of at least 4.5 to 1 for prose, notes and captions (WCAG 2.1, 1.4.3)."""
    page = visit(width, dark).page
    texts = (".lead", ".prose", ".note", "figcaption", ".paths tbody td", ".matrix th", "footer")
    for what in (*texts, ".kinds dt", ".kinds dd", ".shares thead th", ".shares tbody th", ".film-key"):
        assert page.locator(what).first.evaluate(CONTRAST) >= 4.5, what


CONTRAST = """(element) => {
    const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const light = (colour) => parts(colour).slice(0, 3)
        .map((part) => part / 255)
        .map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
    const ink = light(getComputedStyle(element).color);
    const paper = light(getComputedStyle(document.body).backgroundColor);
    return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
}"""


@pytest.mark.parametrize("width", [1280, 390])
def test_to_choose_an_input_shows_its_gates_and_its_paths(visit: Open, width: int):
    page = visit(width).page
    panels = page.locator(".panel")
    seen = []
    for number in (1, 2, 3):
        page.locator(f"label[for=input-{number}]").click()
        shown = [panels.nth(index).is_visible() for index in range(3)]
        assert shown == [index == number - 1 for index in range(3)]
        seen.append(panels.nth(number - 1).locator("svg").get_attribute("aria-label"))
        assert panels.nth(number - 1).locator("tr.open").count() == (8, 8, 4)[number - 1]
    assert len(set(seen)) == 3


def test_an_input_can_be_chosen_by_the_keyboard(visit: Open):
    page = visit().page
    page.locator("#input-1").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator('[data-input="2"]').is_visible()


def test_to_point_at_a_path_draws_it(visit: Open):
    page = visit().page
    line, row = page.locator(".panel .traced").first, page.locator(".panel tbody tr").nth(5)
    assert not line.get_attribute("points")
    row.hover()
    points = line.get_attribute("points")
    assert points == row.locator("button").get_attribute("data-points")
    page.locator("h1").hover()
    assert not line.get_attribute("points")


@pytest.mark.parametrize("width", [1280, 390])
def test_to_press_a_path_keeps_it_and_again_lets_it_go(visit: Open, width: int):
    page = visit(width).page
    line, button = page.locator(".panel .traced").first, page.locator(".panel tbody button").nth(2)
    button.click()
    page.locator("h1").hover()
    assert button.get_attribute("aria-pressed") == "true"
    assert line.get_attribute("points") == button.get_attribute("data-points")
    button.click()
    page.locator("h1").hover()
    assert button.get_attribute("aria-pressed") == "false"
    assert not line.get_attribute("points")


@pytest.mark.parametrize("width", [1280, 390])
def test_the_moment_of_training_opens_and_shuts_the_gates(visit: Open, width: int):
    page = visit(width).page
    slider, said = page.locator("#moment"), page.locator(".course output")
    assert said.inner_text().startswith("step 0.0, loss 38.5")
    before = page.locator(".networks svg").evaluate_all(
        "all => all.map((each) => each.getAttribute('aria-label'))"
    )
    slider.fill("60")
    after = page.locator(".networks svg").evaluate_all(
        "all => all.map((each) => each.getAttribute('aria-label'))"
    )
    assert said.inner_text().startswith("step 60.0, loss 0.0")
    assert before != after
    cursor = page.locator(".chart.broad .cursor" if width > 500 else ".chart.narrow .cursor")
    assert float(cursor.get_attribute("x1") or 0) == float(cursor.get_attribute("data-right") or -1)


def test_a_flip_is_seen_at_its_moment(visit: Open):
    """The first line of the table: what the drawing shows before it and after it differs by that gate
    alone."""
    page = visit().page
    cells = page.locator(".flips tbody tr").first.locator("td").all_inner_texts()
    low, high = (float(part) for part in cells[1].split(","))
    example = int(cells[2][1:]) - 1
    unit, layer = int(cells[3].split()[0]) - 1, int(cells[3].split()[-1])
    network = page.locator(".networks figure").nth(example)
    gate = network.locator(f'[data-gate="{layer}-{unit}"]')
    states = []
    for moment in (low - 0.06, high + 0.06):
        page.locator("#moment").fill(f"{round(moment / 0.05) * 0.05:.2f}")
        states.append("open" in (gate.get_attribute("class") or "").split())
    assert states == ([True, False] if cells[4] == "shuts" else [False, True])


def test_play_moves_on_and_can_be_stopped(visit: Open):
    page = visit().page
    play = page.locator(".play")
    play.click()
    expect(page.locator(".course output")).not_to_have_text(re.compile(r"step 0\.\d,"), timeout=10_000)
    assert play.inner_text() == "Pause"
    play.click()
    assert play.inner_text() == "Play"
    stopped = page.locator("#moment").input_value()
    page.wait_for_timeout(200)
    assert page.locator("#moment").input_value() == stopped


def test_without_scripts_everything_is_told_all_the_same(visit: Open):
    page = visit(scripts=False).page
    page.locator("label[for=input-3]").click()
    assert page.locator('[data-input="3"]').is_visible()
    assert not page.locator(".control").is_visible()
    assert page.locator(".networks svg").count() == 3


@pytest.mark.parametrize("width", [1280, 390])
def test_the_film_moves_where_gates_are_learnt_and_stands_still_where_they_are_fixed(visit: Open, width: int):
    page = visit(width).page
    states = {}
    for epoch in ("0", "2"):
        page.locator("#epoch").fill(epoch)
        assert page.locator(".film output").inner_text() == f"epoch {epoch}"
        states[epoch] = [
            page.locator(f".film .regime-{name} path").evaluate_all(SHAPES) for name in ("relu", "flnpf")
        ]
        changed = page.locator(".film .regime-relu .changed").inner_text()
        assert (changed == "0.0 %") == (epoch == "0")
        assert page.locator(".film .regime-flnpf .changed").inner_text() == "0.0 %"
    assert states["0"][0] != states["2"][0]
    assert states["0"][1] == states["2"][1]


SHAPES = "all => all.map((each) => each.getAttribute('d'))"


def test_the_script_draws_the_film_as_the_page_came(visit: Open):
    """The last epoch of the layer in the middle, as it stands there without scripts."""
    drawn = [
        visit(scripts=scripts)
        .page.locator(".film .reel")
        .evaluate_all("all => all.map((each) => [each.getAttribute('aria-label'), each.innerHTML])")
        for scripts in (True, False)
    ]
    assert drawn[0] == drawn[1]


def test_another_layer_is_chosen_by_the_keyboard(visit: Open):
    page = visit().page
    reel = page.locator(".film .regime-relu .reel")
    assert "layer 3" in (reel.get_attribute("aria-label") or "")
    page.locator("#layer-3").focus()
    page.keyboard.press("ArrowRight")
    assert "layer 4" in (reel.get_attribute("aria-label") or "")


def test_the_film_plays_from_the_start_and_stops_at_the_end(visit: Open):
    page = visit().page
    page.locator(".film-play").click()
    assert page.locator(".film-play").inner_text() == "Pause"
    assert page.locator(".film output").inner_text() == "epoch 0"
    expect(page.locator(".film output")).to_have_text("epoch 2", timeout=10_000)
    expect(page.locator(".film-play")).to_have_text("Play")
