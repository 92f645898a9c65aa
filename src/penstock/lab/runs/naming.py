"""What makes two runs the same run: the claim, the scale, every setting, and the rule that judges."""

import dataclasses
import enum
import hashlib
import json
import math
import re
from pathlib import PurePath
from typing import Any

from penstock.errors import PenstockError
from penstock.lab.claims.claim import Claim

__all__ = ["NAME", "canonical", "folder_name", "identity", "plain"]

# N2-smoke-3f9c51d0a7be
NAME = re.compile(r"(?P<claim>[A-Z][1-9]\d*)-(?P<scale>[a-z]+)-(?P<hash>[0-9a-f]{12})")


def plain(value: Any, name: str = "settings") -> Any:
    """A setting as JSON holds it. Tuples become lists, dataclasses objects; 2.0 is 2, so that a default
    written either way is the same run; what is not finite is spelt out."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, PurePath):
        return value.as_posix()
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            return {"number": str(value)}
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: plain(getattr(value, field.name), field.name) for field in dataclasses.fields(value)
        }
    if isinstance(value, list | tuple):
        return [plain(item, name) for item in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: plain(item, key) for key, item in value.items()}
    raise PenstockError(
        f"the setting {name} is a {type(value).__name__}, which no file can hold as text; use "
        f"numbers, words, tuples or dataclasses"
    )


def canonical(value: Any) -> str:
    """One spelling for one value: sorted keys, no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def identity(claim: Claim[Any], scale: str, settings: Any) -> dict[str, Any]:
    """All settings by name, the defaults too: a setting added later makes another run, never a silent
    match. The rule is part of it, since a rule is written before the run that it judges."""
    return {"claim": claim.id, "scale": scale, "settings": plain(settings), "rule": claim.scales[scale].rule}


def folder_name(identity: dict[str, Any]) -> str:
    """`N2-smoke-` and the first twelve digits of the identity's SHA-256."""
    digest = hashlib.sha256(canonical(identity).encode()).hexdigest()
    return f"{identity['claim']}-{identity['scale']}-{digest[:12]}"
