"""The command. One file a command; `entry` chooses, `arguments` reads what was typed, `voice` speaks."""

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit code. An interruption while its parts are still being loaded is one too."""
    try:
        from penstock.cli.entry import main as enter
    except KeyboardInterrupt:
        print("penstock: stopped", file=sys.stderr)
        return 130
    return enter(arguments)
