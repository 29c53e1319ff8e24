"""The commands of `maps`."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add the commands of this package to the `arena` command."""
