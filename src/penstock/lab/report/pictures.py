"""The picture of a claim, drawn into its run's folder."""

import io
from pathlib import Path
from typing import Any

from penstock.errors import PenstockError
from penstock.files import write_file
from penstock.lab.claims.claim import Claim, Evidence
from penstock.lab.runs.folder import FIGURES, RunFolder

__all__ = ["draw_picture"]

STYLE: Any = {
    "savefig.dpi": 160,
    "svg.fonttype": "path",
    # the same picture is the same file
    "svg.hashsalt": "penstock",
}


def draw_picture(claim: Claim[Any], scale: str, evidence: Evidence, folder: RunFolder) -> list[Path]:
    """Draw what is not drawn yet. A picture at a reduced scale says so in itself."""
    paths = [folder.path / name for name in FIGURES]
    if claim.draw is None or all(path.exists() for path in paths):
        return paths
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise PenstockError("that needs the extra report: pip install 'penstock[report]'") from error
    mpl.use("Agg")
    with mpl.rc_context(STYLE):
        figure = claim.draw(evidence)
        if claim.is_reduced(scale):
            figure.text(
                0.995,
                0.005,
                f"{claim.id}, reduced scale: {scale}",
                ha="right",
                va="bottom",
                fontsize=7,
                alpha=0.7,
            )
        for path in paths:
            write_file(path, _saved(figure, path.suffix[1:]))
    return paths


def _saved(figure: Any, kind: str) -> bytes:
    content = io.BytesIO()
    figure.savefig(content, format=kind, metadata={"Date": None} if kind == "svg" else None)
    return content.getvalue()
