"""The list of claims in `docs/claims.md`, made anew each time the pages are built."""

from pathlib import Path

from penstock.lab.claims.claim import PAPERS
from penstock.lab.claims.listing import Row, claim_rows

MARK = "<!-- claims -->"
HEAD = ["| Claim | Place | Kind | What is claimed | Scales |", "|---|---|---|---|---|"]


def line(row: Row) -> str:
    scales = ", ".join(row.claim.scales) if row.claim else "planned"
    cells = (row.id, row.place, row.kind, row.says, scales)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def table() -> str:
    """One table a paper, in the papers' order."""
    parts = []
    for paper, title in PAPERS.items():
        rows = [line(row) for row in claim_rows().values() if row.paper == paper]
        heading = f"### {paper}: {title[0].upper()}{title[1:]}"
        parts.append("\n".join([heading, "", *HEAD, *rows]))
    return "\n\n".join(parts)


def on_page_markdown(markdown: str, page, **_) -> str:
    if Path(page.file.src_uri).name != "claims.md":
        return markdown
    listed = f'<div class="claims" markdown="1">\n\n{table()}\n\n</div>'
    return markdown.replace(MARK, listed)
