"""Which command, how fast it answers, and what an error looks like."""

import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

import penstock
from cli.conftest import Command, finish, start
from penstock import cli
from penstock.cli import entry


def plain_environment() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}


@pytest.mark.parametrize(
    "arguments", [["--help"], ["-h"], [], ["--debug"], ["reproduce", "--help"], ["claims", "-h"]]
)
def test_help_is_given_where_it_is_asked_for(arguments: list[str], command: Command):
    said = command(*arguments)
    assert said.code == 0
    assert "usage: penstock" in said.out
    assert "\x1b" not in said.out


def test_help_names_the_commands(command: Command):
    said = command("--help")
    assert re.findall(r"•\s(\w+)", said.out) == ["demo", "claims", "reproduce", "runs"]


def test_help_answers_in_under_a_second():
    quickest = min(_seconds("--help") for _ in range(3))
    assert quickest < 1.0


def _seconds(*arguments: str) -> float:
    """Of the processor: what else the machine does is not the command's doing."""
    begun = os.times()
    subprocess.run(
        [sys.executable, "-m", "penstock", *arguments],
        capture_output=True,
        check=True,
        env=plain_environment(),
    )
    ended = os.times()
    return ended.children_user + ended.children_system - begun.children_user - begun.children_system


def test_help_loads_neither_torch_nor_matplotlib():
    heavy = "('torch', 'matplotlib', 'numpy', 'polars')"
    look = f"print([name for name in {heavy} if name in sys.modules])"
    code = f"import sys; from penstock.cli import main; main(['claims']); {look}"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=plain_environment(), check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_version_is_the_packages(command: Command):
    assert command("--version").out == f"penstock {penstock.__version__}\n"


def test_the_module_is_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "penstock", "--version"],
        capture_output=True,
        text=True,
        check=True,
        env=plain_environment(),
    )
    assert done.stdout == f"penstock {penstock.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["reprodce", "N2"], "there is no command reprodce; the nearest is reproduce; see penstock --help"),
        (["--verison"], "there is no option --verison; the nearest is --version; see penstock --help"),
        (
            ["claims", "--jsn"],
            "there is no option --jsn; the nearest are --json, --runs; see penstock claims --help",
        ),
        (["runs", "--runs"], "--runs needs a value: a path; see penstock runs --help"),
        (["runs", "--json=5"], "--json is said or left out, and takes no value; see penstock runs --help"),
    ],
)
def test_a_wrong_call_is_told_in_one_line_what_was_wrong_with_which_argument(
    arguments: list[str], sentence: str, command: Command
):
    said = command(*arguments)
    assert said.code == 2
    assert said.out == ""
    assert said.err.startswith("penstock: ")
    assert sentence in said.err
    assert said.err.count("\n") == 1


def fail(error: BaseException):
    def command(_: object) -> int:
        raise error

    return command


def test_an_error_nobody_foresaw_is_one_line_and_the_way_to_its_traceback(
    command: Command, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(entry.COMMANDS, "demo", (fail(ZeroDivisionError("division\nby zero")), ""))
    said = command("demo")
    assert said.code == 1
    assert said.err == "penstock: ZeroDivisionError: division by zero (--debug shows the traceback)\n"


@pytest.mark.parametrize("arguments", [["--debug", "demo"], ["demo", "--debug"]])
def test_a_traceback_is_shown_to_who_asks(
    arguments: list[str], command: Command, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(entry.COMMANDS, "demo", (fail(ZeroDivisionError("division by zero")), ""))
    said = command(*arguments)
    assert said.code == 1
    assert "Traceback (most recent call last)" in said.err


def test_a_refusal_is_its_sentence(command: Command, monkeypatch: pytest.MonkeyPatch):
    refusal = penstock.PenstockError("the door is shut; knock")
    monkeypatch.setitem(entry.COMMANDS, "demo", (fail(refusal), ""))
    said = command("demo")
    assert (said.code, said.err) == (1, "penstock: the door is shut; knock\n")


def test_an_interrupt_is_130(command: Command, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(entry.COMMANDS, "demo", (fail(KeyboardInterrupt()), ""))
    assert command("demo").code == 130


def test_an_interrupt_while_the_command_is_being_loaded_is_130_too(monkeypatch: pytest.MonkeyPatch, capsys):
    def interrupted(*_: object, **__: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "penstock.cli.entry")
    monkeypatch.setattr(sys, "meta_path", [SimpleNamespace(find_spec=interrupted), *sys.meta_path])
    assert cli.main(["claims"]) == 130
    assert capsys.readouterr().err == "penstock: stopped\n"


def test_who_reads_no_further_is_not_told_off(runs):
    """`penstock claims | head -1`: the pipe is closed while there is more to write."""
    with start("claims", "--json", runs=runs) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(30) == 141


def test_a_narrow_encoding_is_no_error(runs):
    kept = plain_environment()
    done = subprocess.run(
        [sys.executable, "-m", "penstock", "claims"],
        capture_output=True,
        env={**kept, "PYTHONIOENCODING": "ascii", "PENSTOCK_RUNS": str(runs)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"?" in done.stdout


def test_a_process_ends_with_the_commands_code(runs):
    assert finish(start("claims", "N99", runs=runs)).code == 2
