"""N Figure 1 as the paper draws it, from the gates of the tour's network."""

import io

from penstock.lab.report.page.blocks import Block, Note, Prose, Section, Sheet
from penstock.lab.report.page.markup import Markup
from penstock.lab.report.tour.opened import WIDTHS, Opened

__all__ = ["tell_figure"]


def tell_figure(opened: Opened) -> Section:
    """The figure; without the extra `report` a line that says what it needs."""
    blocks: list[Block] = [
        Prose(
            [
                "All of it at once: the network, its eighteen paths three at a time, and the "
                "sub-network of each input in red."
            ]
        )
    ]
    try:
        blocks.append(
            Sheet(
                _drawn(opened),
                _caption(),
                "Figure 1 of the paper: the network, its paths and three active sub-networks",
            )
        )
    except ImportError:
        blocks.append(
            Note(
                [
                    "It is drawn by matplotlib, which is not installed: ",
                    Markup("<code>pip install 'penstock[report]'</code>"),
                    ".",
                ]
            )
        )
    return Section("figure", "The paper’s figure, redrawn", blocks)


def _caption() -> list[str]:
    return [
        Markup(
            "(a) the network; (b) to (g) the paths, numbered as in the list above; (h) to (j) the "
            "active sub-networks; (k) <i>Λ</i>, the paths that two inputs share. "
        ),
        Markup("<code>penstock reproduce N3</code> judges it."),
    ]


def _drawn(opened: Opened) -> bytes:
    import matplotlib as mpl

    from penstock.lab.report.pictures import STYLE
    from penstock.lab.report.subnetworks import draw_opened

    content = io.BytesIO()
    with mpl.rc_context(STYLE):
        draw_opened(WIDTHS, [layer.numpy() for layer in opened.gates]).savefig(
            content, format="svg", metadata={"Date": None}
        )
    return content.getvalue()
