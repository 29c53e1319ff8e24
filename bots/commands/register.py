"""The commands of `bots`."""

from __future__ import annotations

import typer

from bots.commands import bot, new, play, replay, search, tune

MODULES = (new, bot, play, replay, search, tune)


def register(app: typer.Typer) -> None:
    """Add the commands of this package to the `arena` command."""
    for module in MODULES:
        module.register(app)
