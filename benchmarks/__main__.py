"""`python -m benchmarks [name…]` answers questions of speed, prints ratios and writes each answer as JSON."""

import argparse
import importlib
import json
import os
import pkgutil
import platform
import sys
import time
from dataclasses import asdict
from pathlib import Path

import torch

import benchmarks
from benchmarks.bench import Bench, Figure

RESULTS = Path(__file__).parent / "results"


def main(arguments: list[str] | None = None) -> int:
    names = _names()
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "name", nargs="*", metavar="name", help=f"one of {', '.join(names)}; all of them if left out"
    )
    parser.add_argument(
        "--small", action="store_true", help="tiny sizes, to try the code: the ratios mean nothing"
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help=f"where the JSON goes ({RESULTS})")
    given = parser.parse_args(arguments)
    for name in given.name:
        if name not in names:
            parser.error(f"there is no benchmark called {name}; there are {', '.join(names)}")
    print(f"{_machine()['processor']}, {torch.get_num_threads()} threads, torch {torch.__version__}")
    missed = 0
    for name in given.name or names:
        missed += _answer(name, given.small, given.results)
    return 1 if missed and not given.small else 0


def _names() -> list[str]:
    """Every file that has a `bench`; the runner's own have none."""
    return [
        module.name
        for module in pkgutil.iter_modules(benchmarks.__path__)
        if module.name not in ("bench", "__main__")
    ]


def _answer(name: str, small: bool, results: Path) -> int:
    """Prints and writes the answer to one question; returns how many targets it missed."""
    bench = importlib.import_module(f"benchmarks.{name}").bench
    assert isinstance(bench, Bench), f"benchmarks/{name}.py needs a `bench`"
    print(f"\n{name}: {bench.question}")
    figures = []
    for figure in bench.measure(small):
        print(_line(figure), flush=True)
        figures.append(figure)
    results.mkdir(parents=True, exist_ok=True)
    answer = {
        "name": name,
        "question": bench.question,
        "small": small,
        "when": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "machine": _machine(),
        "figures": [asdict(figure) | {"ratio": figure.ratio} for figure in figures],
    }
    (results / f"{name}.json").write_text(json.dumps(answer, indent=2) + "\n")
    return sum(figure.met is False for figure in figures)


def _line(figure: Figure) -> str:
    verdict = {None: "", True: ", met", False: ", MISSED"}[figure.met]
    target = f"  [{figure.target}{verdict}]" if figure.target else ""
    ours, peer = (_with_unit(value, figure.unit) for value in (figure.ours, figure.peer))
    return f"  {figure.what}: {ours} against {peer} ({figure.peer_is}), ratio {figure.ratio:.3g}{target}"


def _with_unit(value: float, unit: str) -> str:
    if unit == "s" and value < 1:
        return f"{1e3 * value:.3g} ms"
    return f"{value:.3g} {unit}"


def _machine() -> dict[str, str | int]:
    return {
        "processor": _processor(),
        "cores": os.cpu_count() or 0,
        "threads": torch.get_num_threads(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "torch": torch.__version__,
    }


def _processor() -> str:
    told = Path("/proc/cpuinfo")
    if told.exists():
        for line in told.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


if __name__ == "__main__":
    sys.exit(main())
