"""The tour itself: computed part by part, and put on one page."""

import platform
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import penstock
from penstock.files import make_folder
from penstock.lab.report.page.blocks import Code, Prose, Section
from penstock.lab.report.page.document import Page, asset
from penstock.lab.report.page.markup import Markup
from penstock.lab.report.tour.explorer import tell_paths
from penstock.lab.report.tour.figure import tell_figure
from penstock.lab.report.tour.flipping import tell_flips
from penstock.lab.report.tour.kernels import tell_sharing, tell_tangent
from penstock.lab.report.tour.opened import Opened, open_network
from penstock.lab.report.tour.regimes.telling import in_a_line, tell_regimes
from penstock.lab.report.tour.regimes.training import Regimes, Size, train_regimes
from penstock.lab.report.tour.training import STEPS, Training, train
from penstock.training.asking import Follow

__all__ = ["Guide", "write_tour"]

M = Markup
CALLS = (
    "record = penstock.capture(model, x)   # which gates are open: one bit each",
    "record.overlap()                      # τ, layer by layer",
    "penstock.list_paths(model)            # the paths, in the order of the figure",
    "phi = penstock.npf(model, x)          # features, inputs × paths",
    "v = penstock.npv(model)               # values",
    "V = penstock.vtk(model)               # paths × paths",
    "phi @ v                               # the output",
    "phi @ phi.T                           # H",
    "phi @ V @ phi.T                       # K",
    "switches = penstock.Switches(model, x)  # then switches.step() after every optimizer.step()",
    "monitor = penstock.Monitor(model, x)    # likewise: how many gates are open, dead, flipped",
    'penstock.regime(model, "dlnpf")         # gates and values apart, ready to be trained',
)


@dataclass(frozen=True)
class Guide:
    """Who is told what the tour does, and who shows how far it is."""

    say: Callable[[str], None]
    follow: Callable[[Iterable[int]], Iterable[int]] = iter
    progress: Follow | None = None
    """Shows the longer training of the five regimes."""


def write_tour(folder: Path, guide: Guide, size: Size | None = None) -> Path:
    """Compute the tour and write its page; the path of the page. `size` is that of the training at its
    end."""
    make_folder(folder)  # refused before anything is computed
    opened = _open(guide)
    training = _flip(guide)
    regimes = _learn(guide, size or Size())
    page = Page(
        title="A ReLU network, opened",
        lead=(
            "A ReLU network is a bundle of straight paths with gates on them. An input opens some of "
            "the gates, and the paths that they "
            "leave make up the output, exactly. This is the network of Figure 1 of ",
            M("<cite>Neural Path Features and Neural Path Kernel</cite>"),
            " (2020): two inputs, two layers of three gates, one output, with weights and inputs "
            "that give it gates of the figure’s kind. At the end, a larger one learns to read digits.",
        ),
        blocks=[
            tell_paths(opened),
            tell_figure(opened),
            tell_sharing(opened),
            tell_tangent(opened),
            tell_flips(training),
            tell_regimes(regimes),
            _calls(),
        ],
        styles=[asset("tour", "tour.css"), asset("tour", "regimes.css")],
        scripts=[asset("tour", "tour.js"), asset("tour", "regimes.js")],
        footer=(
            f"Penstock {penstock.__version__}, torch {version('torch')}, Python "
            f"{platform.python_version()}. Nothing on this page is fetched from anywhere.",
        ),
    )
    return page.write(folder)


def _open(guide: Guide) -> Opened:
    guide.say("opening the network 2-3-3-1 on three inputs")
    opened = open_network()
    gates = ", ".join(
        "".join(str(int(bit)) for layer in opened.gates for bit in layer[example])
        for example in range(len(opened.x))
    )
    open_paths = ", ".join(str(int(count)) for count in (opened.features != 0).sum(dim=1))
    guide.say(f"  6 gates, open for each input: {gates}; of {len(opened.paths)} paths open: {open_paths}")
    guide.say(
        f"  output and ⟨φ, v⟩ differ by {(opened.features @ opened.values - opened.output).abs().max():.1g}"
    )
    guide.say(f"  K and ΦᵀVΦ differ by {(opened.tangent_kernel - opened.jacobian_kernel).abs().max():.1g}")
    return opened


def _flip(guide: Guide) -> Training:
    guide.say(f"training it for {STEPS} steps, watching its gates")
    training = train(guide.follow)
    guide.say(
        f"  loss {training.losses[0]:.3g} → {training.losses[-1]:.2g}, {len(training.flips)} flips of gates"
    )
    return training


def _learn(guide: Guide, size: Size) -> Regimes:
    guide.say(f"training FC on digits in five regimes, {len(size.seeds)} seeds each, {size.epochs} epochs")
    regimes = train_regimes(size, guide.progress)
    guide.say(f"  right on test digits, in percent: {in_a_line(regimes)}")
    return regimes


def _calls() -> Section:
    return Section(
        "calls",
        "Where the numbers come from",
        [
            Prose(
                [
                    "Every number above was computed while this page was written, by calls that take "
                    "any module of PyTorch:"
                ]
            ),
            Code(CALLS),
            Prose(
                [
                    M(
                        "<code>penstock claims</code> lists what the papers claim, and "
                        "<code>penstock reproduce N2</code> re-derives a claim and judges it."
                    )
                ]
            ),
        ],
    )
