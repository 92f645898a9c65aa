"""The section says what was computed, and nothing that was typed."""

import base64
import dataclasses
import json
import re

import numpy as np
import pytest

from lab.report.page.reading import Reading
from penstock.lab.report.tour.regimes.film import SHOWN, runs
from penstock.lab.report.tour.regimes.final import mean_and_spread
from penstock.lab.report.tour.regimes.panel import apart
from penstock.lab.report.tour.regimes.telling import in_a_line, tell_regimes
from penstock.lab.report.tour.regimes.training import Regimes


@pytest.fixture(scope="module")
def html(regimes: Regimes) -> str:
    return tell_regimes(regimes).html()


def test_it_is_well_formed_and_no_markup_was_escaped(html: str):
    assert Reading(html).all("svg")
    assert "&lt;" not in html


def test_each_regimes_mean_and_spread_stand_below_its_column(regimes: Regimes, html: str):
    for course in regimes.courses.values():
        mean, spread = mean_and_spread(course)
        finals = [100 * share for share in course.test[:, -1]]
        assert mean == pytest.approx(sum(finals) / len(finals))
        assert f">{mean:.1f}<" in html
        assert f">± {spread:.1f}<" in html


def test_a_dot_stands_for_every_seed(regimes: Regimes, html: str):
    for name in regimes.courses:
        assert html.count(f'class="dot regime-{name}"') == len(regimes.size.seeds)


def test_it_says_that_random_gates_come_last_only_where_they_do(regimes: Regimes):
    def told(finals: dict[str, float]) -> str:
        courses = {
            name: dataclasses.replace(course, test=np.full_like(course.test, finals.get(name, 0.9)))
            for name, course in regimes.courses.items()
        }
        return tell_regimes(dataclasses.replace(regimes, courses=courses)).html()

    said = "Every regime with learnt gates ends above both with random ones."
    assert said in told({"frnpf-ii": 0.8, "frnpf-di": 0.7})
    other = told({"frnpf-ii": 0.95, "frnpf-di": 0.7})
    assert said not in other
    assert "From the best to the worst: FRNPF-II, DLNPF, FLNPF, ReLU, FRNPF-DI." in other


def test_it_names_who_moves_and_who_stands_still(html: str):
    assert "the gates of ReLU and DLNPF move" in html
    assert "Those of FRNPF-II, FRNPF-DI, FLNPF stand still" in html


def test_the_table_holds_the_shares(regimes: Regimes, html: str):
    for course in regimes.courses.values():
        assert f"<td>{100 * course.movement.since_start[:, -1].mean():.1f} %</td>" in html


def test_the_film_can_be_read_back_from_the_page(regimes: Regimes, html: str):
    found = re.search(r'class="film-data">(.*?)</script>', html)
    assert found is not None
    reels = json.loads(found[1])["reels"]
    for name, reel in zip(SHOWN, reels, strict=True):
        film = regimes.courses[name].movement.film
        looks = len(film) if regimes.courses[name].movement.moves else 1
        for layer, packed in enumerate(reel):
            bits = np.unpackbits(np.frombuffer(base64.b64decode(packed), dtype=np.uint8))
            shape = (looks, *film.shape[2:])
            assert (bits[: np.prod(shape)].reshape(shape) == film[:looks, layer]).all()


def test_cells_become_a_rectangle_for_each_run():
    assert runs(np.array([[1, 1, 0, 1], [0, 0, 0, 0]], dtype=bool)) == "M0 0h2v1h-2zM3 0h1v1h-1z"


def test_names_are_moved_apart_and_keep_their_order():
    assert apart([10.0, 50.0], 12.0) == [10.0, 50.0]
    assert apart([10.0, 10.0], 12.0) == [4.0, 16.0]
    placed = apart([30.0, 10.0, 11.0, 12.0, 70.0], 12.0)
    assert placed[1] < placed[2] < placed[3] < placed[0] < placed[4]
    gaps = np.diff(sorted(placed))
    assert (gaps >= 12 - 1e-9).all()


def test_who_waits_at_the_terminal_is_told_the_five_means(regimes: Regimes):
    line = in_a_line(regimes)
    assert line.startswith("FRNPF-II ")
    assert len(line.split(", ")) == 5
