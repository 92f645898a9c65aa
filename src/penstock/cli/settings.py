"""The settings of a claim as options of `penstock reproduce`, for one claim at a time."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import tyro

from penstock.cli.arguments import UsageError, option_names
from penstock.lab.claims.claim import PAPERS, SCALES, Claim
from penstock.lab.claims.listing import claim_rows
from penstock.lab.runs.naming import plain

__all__ = ["about_claim", "asked_scale", "changed", "claim_alone", "command_for", "refuse_shared"]


def claim_alone(arguments: Sequence[str], command: type) -> Claim[Any] | None:
    """The claim that is named, where it is one and nothing else is: its settings can then be overridden."""
    words = _words(arguments, command)
    names = {word.upper() for word in words if word.upper() in {*claim_rows(), *PAPERS, "ALL"}}
    row = claim_rows().get(names.pop()) if len(names) == 1 else None
    return row.claim if row else None


def _words(arguments: Sequence[str], command: type) -> list[str]:
    """What may name a claim: not the value of an option, and what stands before the first setting, if
    anything does."""
    own = set(option_names(command))
    words: list[str] = []
    before: list[str] | None = None
    value_follows = False
    for token in arguments:
        if token.startswith("-"):
            flag = token.split("=")[0].replace("_", "-")
            value_follows = flag in own and "=" not in token and flag not in _FLAGS
            if flag not in own and before is None:
                before = list(words)
        elif value_follows:
            value_follows = False
        else:
            words.append(token)
    return before or words


_FLAGS = {"--fresh", "--json", "--debug"}


def asked_scale(arguments: Sequence[str], otherwise: str) -> str:
    """What `--scale` says, before anything else is read; a wrong word is left for the reading itself to
    refuse."""
    for position, token in enumerate(arguments):
        name, has_value, value = token.partition("=")
        if name == "--scale":
            word = value if has_value else next(iter(arguments[position + 1 :]), "")
            return word if word in SCALES else otherwise
    return otherwise


def command_for(command: type, claim: Claim[Any], scale: str) -> type:
    """The command with this claim's settings beside its own options, at this scale's values."""
    settings = claim.scales[scale].settings
    kind = tyro.conf.OmitArgPrefixes[type(settings)]  # type: ignore[valid-type]
    return dataclasses.make_dataclass(
        command.__name__,
        [("settings", kind, dataclasses.field(default=settings))],
        bases=(command,),
        frozen=True,
    )


def about_claim(claim: Claim[Any]) -> str:
    """What `--help` says of a claim: what it claims, its rules, and its settings where scales differ in
    them."""
    lines = [f"{claim.id}, {claim.place}: {claim.says}"]
    if claim.printed:
        lines.append(f"The paper: {claim.printed}")
    if claim.corrected:
        lines.append(f"Corrected, and judged: {claim.corrected}")
    for name in SCALES:
        if name in claim.scales:
            scale = claim.scales[name]
            lines.append(f"At {name}: {_settings(scale.settings)}. {scale.rule}")
    return "\n\n".join(lines)


def refuse_shared(arguments: Sequence[str], command: type) -> None:
    """A setting of one claim, given where several are named."""
    own = set(option_names(command))
    named = [
        claim_rows()[word.upper()].claim
        for word in _words(arguments, command)
        if word.upper() in claim_rows()
    ]
    for token in arguments:
        flag = token.split("=")[0].replace("_", "-")
        if not token.startswith("--") or flag in own:
            continue
        for claim in named:
            if claim and flag in option_names(type(next(iter(claim.scales.values())).settings)):
                raise UsageError(
                    f"{flag} is a setting of {claim.id}, and settings are overridden for one claim at "
                    f"a time: "
                    f"penstock reproduce {claim.id} {token} …"
                )


def changed(usual: Any, given: Any) -> str:
    """The settings that are not the scale's own, as `epochs 5, step 0.1`; empty where all are."""
    differing = {
        field.name: getattr(given, field.name)
        for field in dataclasses.fields(usual)
        if plain(getattr(given, field.name)) != plain(getattr(usual, field.name))
    }
    return ", ".join(f"{_option(name)} {_value(value)}" for name, value in differing.items())


def _settings(settings: Any) -> str:
    values = (
        f"{_option(field.name)} {_value(getattr(settings, field.name))}"
        for field in dataclasses.fields(settings)
    )
    return ", ".join(values) or "no settings"


def _option(name: str) -> str:
    return name.replace("_", "-")


def _value(value: Any) -> str:
    return " ".join(map(_value, value)) if isinstance(value, tuple | list) else str(value)
