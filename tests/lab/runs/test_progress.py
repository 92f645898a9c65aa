"""How far a long piece of work is."""

import io

import pytest

from penstock.lab.runs.progress import Progress, duration, pace


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("done", "total", "seconds", "text"),
    [
        (300, 1000, 6.0, "300 of 1000, 50 a second, 14 s left"),
        (3, 10, 30.0, "3 of 10, 10 s each, 1 min 10 s left"),
        (7, None, 2.0, "7, 3.5 a second"),
        (1, 3, 0.0, "1 of 3, 0 a second"),
    ],
)
def test_pace_says_rate_and_time_left(done: int, total: int | None, seconds: float, text: str):
    assert pace(done, total, seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(4.0, "4 s"), (65.0, "1 min 05 s"), (3661.0 + 2 * 3600, "3 h 01 min")]
)
def test_a_duration_is_read_at_a_glance(seconds: float, text: str):
    assert duration(seconds) == text


def test_off_a_terminal_a_plain_line_comes_now_and_then(monkeypatch: pytest.MonkeyPatch):
    clock = iter(range(0, 1000, 4))
    monkeypatch.setattr("penstock.lab.runs.progress.time.monotonic", lambda: float(next(clock)))
    stream = io.StringIO()
    assert list(Progress(stream).follow(range(6), "training")) == [0, 1, 2, 3, 4, 5]
    assert stream.getvalue() == "training: 3 of 6, 4 s each, 12 s left\n"


def test_on_a_terminal_a_bar_is_drawn_and_cleared(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    follow = Progress(stream).follow
    assert [(a, b) for a in follow(range(2), "outer") for b in follow(iter("xy"), "inner", total=2)] == [
        (0, "x"),
        (0, "y"),
        (1, "x"),
        (1, "y"),
    ]
    assert "outer" in stream.getvalue()


def test_a_loop_that_is_left_early_leaves_no_bar(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TERM", "xterm")
    followed = Progress(Terminal())
    for step in followed.follow(range(10), "search"):
        if step == 3:
            break
    assert list(followed.follow(range(2), "again")) == [0, 1]
