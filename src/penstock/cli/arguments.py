"""What was typed, read by tyro into a dataclass; what was wrong with which argument, in one sentence."""

import contextlib
import dataclasses
import difflib
import inspect
import io
import re
import shutil
import textwrap
import types
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import tyro

from penstock.errors import PenstockError, nearest

__all__ = ["Common", "Flag", "Folder", "UsageError", "describe", "hint", "option_names", "parse"]

T = TypeVar("T")

Flag = Annotated[bool, tyro.conf.FlagCreatePairsOff, tyro.conf.arg(help_behavior_hint="")]


class UsageError(PenstockError):
    """The command was called wrongly: exit code 2."""


def hint(text: str, metavar: str | None = None) -> Any:
    """What stands behind an option's help instead of its default."""
    return tyro.conf.arg(help_behavior_hint=text, metavar=metavar)


Folder = Annotated[Path | None, hint("", "FOLDER")]


@dataclasses.dataclass(frozen=True)
class Common:
    """What every command takes."""

    debug: Flag = False
    """Show the traceback of an error."""


def describe(error: BaseException) -> str:
    """An error in one line: a refusal as it stands, what nobody foresaw by its kind and with the way to its
    traceback."""
    if isinstance(error, PenstockError):
        return str(error)
    line = " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
    return f"{line} (--debug shows the traceback)"


def parse(command: type[T], arguments: Sequence[str], program: str, about: str) -> T:
    """The command's dataclass with what was typed in it; `--help` prints and leaves."""
    given = list(arguments)
    _refuse_values_of_flags(command, given, program)
    if {"-h", "--help"} & set(arguments):
        print(_reflowed(about), end="\n\n")
    parsed, unknown = _parse(command, given, program)
    if unknown and not any(token.startswith("-") for token in unknown):
        # a word behind an option: tyro takes words in one place alone
        parsed, unknown = _parse(command, _words_together(given, unknown), program)
    if unknown:
        raise UsageError(f"{_unknown(command, unknown)}; see {program} --help")
    return parsed


def _parse(command: type[T], arguments: list[str], program: str) -> tuple[T, list[str]]:
    complaint = io.StringIO()
    try:
        with contextlib.redirect_stderr(complaint):
            return tyro.cli(command, prog=program, description=" ", args=arguments, return_unknown_args=True)
    except SystemExit as end:
        if not end.code:
            raise
        wrong = _wrong_value(command, arguments) or _unboxed(complaint.getvalue())
        raise UsageError(f"{wrong}; see {program} --help") from None


def _words_together(arguments: list[str], late: list[str]) -> list[str]:
    """The same, with the words that came late behind those that came first."""
    rest = arguments[::-1]
    for word in late[::-1]:
        rest.remove(word)
    rest.reverse()
    options_begin = next((index for index, token in enumerate(rest) if token.startswith("-")), len(rest))
    return [*rest[:options_begin], *late, *rest[options_begin:]]


def _refuse_values_of_flags(command: type, arguments: list[str], program: str) -> None:
    flags = {name for name, kind in _options(command) if kind is bool}
    for token in arguments:
        name, has_value, _ = token.partition("=")
        if has_value and name in flags:
            raise UsageError(f"{name} is said or left out, and takes no value; see {program} --help")


def _reflowed(text: str) -> str:
    """A docstring's paragraphs, each filled to the terminal's width."""
    width = min(shutil.get_terminal_size().columns, 100)
    return "\n\n".join(textwrap.fill(each, width) for each in inspect.cleandoc(text).split("\n\n"))


def option_names(command: type) -> list[str]:
    """`--scale`, `--data-dir`, …: all options of a command and of the settings inside it."""
    return [flag for flag, _ in _options(command)]


def _options(command: type) -> Iterator[tuple[str, Any]]:
    hints = get_type_hints(command, include_extras=True)
    for field in dataclasses.fields(command):
        kind, marks = _bare(hints[field.name])
        if dataclasses.is_dataclass(kind):
            yield from _options(kind)  # type: ignore[arg-type]
        elif tyro.conf.Positional not in marks:
            yield "--" + field.name.replace("_", "-"), kind


def _bare(kind: Any) -> tuple[Any, tuple[Any, ...]]:
    """A type without its annotations and without None, and the annotations."""
    marks: tuple[Any, ...] = ()
    if get_origin(kind) is Annotated:
        marks, kind = kind.__metadata__, get_args(kind)[0]
    if get_origin(kind) in (Union, types.UnionType):
        others = [each for each in get_args(kind) if each is not types.NoneType]
        kind = others[0] if len(others) == 1 else kind
    return kind, marks


def _unknown(command: type, tokens: list[str]) -> str:
    option = next((token for token in tokens if token.startswith("-")), None)
    if option is None:
        return f"{tokens[0]!r} is one argument too many"
    name = option.split("=")[0]
    return f"there is no option {name}; {nearest(name, ['--help', *option_names(command)])}"


def _wrong_value(command: type, arguments: Sequence[str]) -> str | None:
    """Which option was given a value that it cannot take."""
    kinds = dict(_options(command))
    for position, token in enumerate(arguments):
        name, has_value, value = token.partition("=")
        flag = name.replace("_", "-")
        kind = kinds.get(flag)
        if kind is None or kind is bool:
            continue
        values = [value] if has_value else _until_option(arguments[position + 1 :])
        if not values:
            return f"{flag} needs a value: {_expected(kind)}"
        item, many = _item(kind)
        for text in values if many else values[:1]:
            if not _fits(item, text):
                return f"{flag} takes {_expected(kind)}, not {text!r}{_did_you_mean(item, text)}"
    return None


def _until_option(tokens: Sequence[str]) -> list[str]:
    found = []
    for token in tokens:
        if re.match(r"-+[A-Za-z]", token):
            break
        found.append(token)
    return found


def _item(kind: Any) -> tuple[Any, bool]:
    """The type of one value, and whether several are taken."""
    if get_origin(kind) in (tuple, list) and get_args(kind):
        return get_args(kind)[0], True
    return kind, False


def _fits(kind: Any, text: str) -> bool:
    if get_origin(kind) is Literal:
        return text in map(str, get_args(kind))
    if kind in (int, float):
        try:
            kind(text)
        except ValueError:
            return False
    return True


def _expected(kind: Any) -> str:
    item, many = _item(kind)
    if many:
        return f"one or more of {_expected(item)}"
    if get_origin(item) is Literal:
        *most, last = map(str, get_args(item))
        return f"{', '.join(most)} or {last}" if most else last
    return {int: "a whole number", float: "a number", Path: "a path"}.get(item, "a word")


def _did_you_mean(kind: Any, text: str) -> str:
    choices = list(map(str, get_args(kind))) if get_origin(kind) is Literal else []
    close = difflib.get_close_matches(text, choices, n=1)
    return f"; the nearest is {close[0]}" if close else ""


def _unboxed(complaint: str) -> str:
    """tyro's own words, without the box that it draws around them and without what follows their first rule.

    Where there are no characters for a box, its head is a line of its own with a rule below it.
    """
    lines = [line.strip("│┃| ").strip() for line in complaint.splitlines()]
    sections: list[list[str]] = [[]]
    for line in lines:
        if line and set(line) <= set("─-"):
            sections.append([])
        elif line and line[0] not in "╭╰┌└+":
            sections[-1].append(line)
    headed = not complaint.lstrip().startswith(tuple("╭┌+")) and len(sections) > 1
    said = " ".join(" ".join(sections[headed]).split()).removeprefix("Error parsing ")
    return said.removeprefix("settings: ").rstrip(".") or "this cannot be read"
