"""The built pages load nothing from the network: MkDocs runs this after a build."""

import re
from collections.abc import Iterator
from pathlib import Path

LOADS = re.compile(
    r"""<(?:script|img|iframe|source|audio|video)\b[^>]*?\bsrc=["']?((?:https?:)?//[^"'\s>]+)"""
    r"""|<link\b(?![^>]*\brel=["']?(?:canonical|alternate|next|prev))[^>]*?\bhref=["']?((?:https?:)?//[^"'\s>]+)"""
    r"""|@import\s+["']?((?:https?:)?//[^"'\s)]+)|url\(["']?((?:https?:)?//[^"'\s)]+)""",
    re.IGNORECASE,
)


def loaded_from_the_network(text: str) -> Iterator[str]:
    """What a page or a style sheet fetches by itself, not what it links to."""
    for match in LOADS.finditer(text):
        yield next(filter(None, match.groups()))


def on_post_build(config, **_) -> None:
    from mkdocs.exceptions import PluginError

    found = [
        f"{path.name} loads {address}"
        for path in Path(config.site_dir).rglob("*")
        if path.suffix in (".html", ".css")
        for address in loaded_from_the_network(path.read_text(encoding="utf-8"))
    ]
    if found:
        listed = "; ".join(sorted(set(found)))
        raise PluginError(f"the documentation must work without a network: {listed}")
