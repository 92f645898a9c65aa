"""The command. One file a command; `entry` chooses, `arguments` reads what was typed, `voice` speaks."""

from penstock.cli.entry import main as main

__all__ = ["main"]
