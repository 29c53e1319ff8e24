"""The commands of a host, for the `arena` command."""

from __future__ import annotations

import typer

from server.commands import check, log, ratings, serve, store, token


def register(app: typer.Typer) -> None:
    """Add the commands of this package to the `arena` command."""
    for module in (serve, ratings, store, token, check, log):
        module.register(app)
