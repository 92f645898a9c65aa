"""Long names break where a reader would break them: behind `/`, `.`, `_` or `::`."""

import re

NAME = re.compile(r"(?<=<code>)[^<\s]{20,}(?=</code>)")
BEHIND = re.compile(r"(::|[/._])(?=\w)")


def on_page_content(html: str, **_) -> str:
    return NAME.sub(lambda name: BEHIND.sub(r"\1<wbr>", name[0]), html)
