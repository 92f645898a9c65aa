"""`penstock`: which command, and what an error looks like."""

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, make_dataclass
from typing import Annotated, Union

import tyro

import penstock
from penstock.cli.arguments import Common, Flag, UsageError, describe, parse
from penstock.cli.claims import list_claims
from penstock.cli.demo import show_tour
from penstock.cli.reproduce import reproduce_claims
from penstock.cli.runs import list_runs
from penstock.errors import nearest

__all__ = ["main"]

COMMANDS: dict[str, tuple[Callable[[Sequence[str]], int], str]] = {
    "demo": (
        show_tour,
        "The tour: opens a small network, trains one on digits, and writes a page. A minute, no download.",
    ),
    "claims": (list_claims, "Every claim of the papers: the paper's figure, ours, the verdict."),
    "reproduce": (reproduce_claims, "Re-derive claims and judge them."),
    "runs": (list_runs, "What has been run."),
}

INTERRUPTED = 130
PIPE_CLOSED = 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit code. 0 done, 1 it could not be done, 2 it was called wrongly, 130
    interrupted."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    if given[:1] == ["--debug"]:
        given = [*given[1:], "--debug"]
    _survive_narrow_encodings()
    try:
        code = _dispatch(given)
        sys.stdout.flush()
        return code
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except BrokenPipeError:
        # whoever read our output has seen enough; python would complain once more when it closes the pipe
        # itself
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except KeyboardInterrupt:
        _complain("stopped")
        return INTERRUPTED
    except Exception as error:
        if debug:
            traceback.print_exc()
        _complain(describe(error))
        return 2 if isinstance(error, UsageError) else 1


def _dispatch(given: list[str]) -> int:
    if given in ([], ["--debug"]) or given[0] in ("-h", "--help"):
        return _help()
    if given[0] == "--version":
        print(f"penstock {penstock.__version__}")
        return 0
    name, *rest = given
    if name in COMMANDS:
        return COMMANDS[name][0](rest)
    kind = "option" if name.startswith("-") else "command"
    raise UsageError(
        f"there is no {kind} {name}; {nearest(name, [*COMMANDS, '--help', '--version'])}; see penstock --help"
    )


def _help() -> int:
    """The commands, as tyro shows subcommands."""
    subcommands = [
        Annotated[_Nothing, tyro.conf.subcommand(name, description=text)]
        for name, (_, text) in COMMANDS.items()
    ]
    command = tyro.conf.OmitSubcommandPrefixes[Union[tuple(subcommands)]]  # noqa: UP007
    top = make_dataclass("Top", [("command", command)], bases=(_Top,), frozen=True, kw_only=True)
    parse(top, ["--help"], "penstock", _Top.__doc__ or "")
    return 0


@dataclass(frozen=True)
class _Nothing:
    pass


@dataclass(frozen=True)
class _Top(Common):
    """Opens up ReLU networks: which gates are open, which paths they leave, what kernel the paths make."""

    version: Flag = False
    """Print the version, and exit."""


def _survive_narrow_encodings() -> None:
    """A terminal that cannot show a Σ gets a question mark, not an error."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def _complain(text: str) -> None:
    print(f"penstock: {text}", file=sys.stderr)
