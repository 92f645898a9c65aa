"""What the papers number: their statements, tables, figures, experiments and equations. Facts only.

`PAPERS` maps the letter of a heading of `docs/theory.md` to the items that must each have a row below it.
"""

from collections.abc import Iterable, Mapping

Items = frozenset[tuple[str, str]]


def items(kinds: Mapping[str, Iterable[object]]) -> Items:
    return frozenset((kind, str(number)) for kind, numbers in kinds.items() for number in numbers)


N = items(
    {
        "Proposition": ["1.1", "2.1", "3.1", "3.2", "3.3", "4.1", *(f"B.{i}" for i in range(1, 7))],
        "Definition": ["2.1", "2.2", "3.1", "3.2", "3.3", "B.1", "B.2", "B.3", "C.1", "C.2", "D.1"],
        "Lemma": ["2.1", "B.1", "B.2", "B.3"],
        "Theorem": ["5.1", "B.1", "B.2"],
        "Corollary": ["C.1"],
        "Table": range(1, 6),
        "Figure": range(1, 8),
        "Equation": range(1, 24),
        "Experiment": [*(f"6.2.{i}" for i in range(1, 7)), "D.1"],
    }
)

N_FIRST = items(
    {
        "Definition": ["5.1"],
        "Assumption": ["5.1"],
        "Theorem": ["5.1"],
        "Table": [2],
        "Figure": [3],
    }
)

D = items(
    {
        "Assumption": [1, 2],
        "Definition": ["3.1", *(f"7.{i}" for i in range(1, 5))],
        "Lemma": ["2.1", "2.2", "2.4", "3.1", "4.1", "7.1", "7.2", "7.4", "7.5", "8.2"],
        "Theorem": ["2.3", "7.3"],
        "Corollary": ["8.1"],
        "Fact": range(1, 9),
        "Table": range(1, 6),
        "Figure": range(1, 11),
        "Equation": range(1, 17),
        "Experiment": range(1, 9),
    }
)

R = items(
    {
        "Equation": range(1, 57),
        "Figure": range(1, 11),
        "Table": range(1, 6),
        "Experiment": ["4.1", "4.2", "4.3", "5.1"],
    }
)

L = items(
    {
        "Theorem": range(1, 6),
        "Lemma": range(1, 8),
        "Assumption": range(1, 4),
        "Figure": range(1, 24),
        "Equation": range(1, 71),
        "Experiment": ["4.1", "4.3"],
    }
)

PAPERS: Mapping[str, Items] = {"N": N, "N, first version": N_FIRST, "D": D, "R": R, "L": L}
