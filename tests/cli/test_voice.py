"""Plain lines for programs, a table for people."""

import io
import json

import pytest

from penstock.cli.voice import Column, Voice


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


COLUMNS = (Column("id"), Column("claim", 2), Column("verdict", 1, 12))
ROWS = [
    ["N2", "a claim told at such length that no line of a terminal could hold it", "reproduced\nsmoke"],
    ["N3", "[b]", "not run"],
]


def shown() -> str:
    terminal = Terminal()
    Voice(terminal).table(COLUMNS, ROWS)
    return terminal.getvalue()


def test_a_line_is_tab_separated_whatever_its_cells_hold():
    out = io.StringIO()
    Voice(out).line("N2", "two\nlines\tand a tab", "")
    assert out.getvalue() == "N2\ttwo lines and a tab\t\n"


def test_on_a_terminal_a_table_is_wrapped_to_its_width_and_coloured(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    text = shown()
    assert "\x1b[32m" in text
    assert "verdict" in text
    assert "told at such length that no line" not in text
    assert "[b]" in text
    assert "reproduced" in text


def test_colour_is_left_out_where_it_is_not_wanted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    assert "\x1b[32m" not in shown()


def test_the_story_can_go_aside_so_that_json_stands_alone():
    out, aside = io.StringIO(), io.StringIO()
    voice = Voice(out, aside)
    voice.say("going on")
    voice.json({"σ": 1})
    assert json.loads(out.getvalue()) == {"σ": 1}
    assert aside.getvalue() == "going on\n"


def test_markup_in_what_is_said_is_not_taken_for_style(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TERM", "dumb")
    terminal = Terminal()
    Voice(terminal).say("[bold]K[i, j]")
    assert terminal.getvalue() == "[bold]K[i, j]\n"
