"""The examples of a docstring shown as code (an extension of griffe)."""

import re

from griffe import Extension, Object

# from the first prompt to the next empty line
EXAMPLE = re.compile(r"^(>>> .*(?:\n.+)*)", flags=re.MULTILINE)


class DoctestBlocks(Extension):
    def on_object(self, *, obj: Object, **_) -> None:
        if obj.docstring and ">>> " in obj.docstring.value:
            obj.docstring.value = EXAMPLE.sub(r"```pycon\n\1\n```", obj.docstring.value)
