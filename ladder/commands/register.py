"""The commands that play events, for the `arena` command."""

from __future__ import annotations

import typer

from ladder.commands import ladder


def register(app: typer.Typer) -> None:
    """Add the commands of this package to the `arena` command."""
    ladder.register(app)
