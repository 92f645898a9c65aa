"""Every claim there is: those that are built, found by listing this folder, and the rest of the table."""

import pkgutil
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import penstock.lab.claims
from penstock.errors import PenstockError, UnknownName
from penstock.lab.claims.catalogue import CATALOGUE
from penstock.lab.claims.claim import PAPERS, Claim

__all__ = ["Row", "built_claims", "claim_rows", "select"]

# n02_output_is_an_inner_product
FILE = re.compile(r"(?P<paper>[a-z])(?P<number>\d\d)_\w+")


@dataclass(frozen=True)
class Row:
    """A line of the table of claims; `claim` is None while it is not built."""

    id: str
    paper: str
    place: str
    kind: str
    says: str
    claim: Claim[Any] | None = None


@cache
def built_claims() -> dict[str, Claim[Any]]:
    """The claims of this folder, by id. A file is named after the claim it holds."""
    found = {}
    for module in pkgutil.iter_modules(penstock.lab.claims.__path__):
        name = FILE.fullmatch(module.name)
        if name is None:
            continue
        claim = import_module(f"{penstock.lab.claims.__name__}.{module.name}").claim
        if claim.id != f"{name['paper'].upper()}{int(name['number'])}":
            raise PenstockError(f"{module.name}.py holds the claim {claim.id}; name the file after its claim")
        found[claim.id] = claim
    return dict(sorted(found.items(), key=lambda item: order(item[0])))


@cache
def claim_rows() -> dict[str, Row]:
    """Every claim of the papers, by id, in their order."""
    rows = {id: Row(id, id[0], place, kind, says) for id, place, kind, says in CATALOGUE}
    for claim in built_claims().values():
        rows[claim.id] = Row(claim.id, claim.paper, claim.place, claim.kind, claim.says, claim)
    return {id: rows[id] for id in sorted(rows, key=order)}


def select(words: Iterable[str]) -> list[Row]:
    """The rows that `N2`, `d7` (an id), `N` (a paper) or `all` name, each once, in the order of the words."""
    rows = claim_rows()
    chosen: dict[str, Row] = {}
    for word in words:
        name = word.upper()
        if name == "ALL":
            matching = list(rows)
        elif name in PAPERS:
            matching = [id for id in rows if id[0] == name]
        elif name in rows:
            matching = [name]
        else:
            # of the claim's own paper where it names one, so that N99 is told about N's
            same_paper = [id for id in rows if id[0] == name[:1]]
            raise UnknownName("claim", word, same_paper or [*rows, *PAPERS, "all"])
        chosen.update((id, rows[id]) for id in matching)
    return list(chosen.values())


def order(id: str) -> tuple[int, int]:
    """Papers in the order of `PAPERS`, and by number."""
    return list(PAPERS).index(id[0]), int(id[1:])
