"""The commands of `server`."""

from __future__ import annotations

import typer

import server.cli_check
import server.cli_ladder
import server.cli_log
import server.cli_ratings
import server.cli_serve
import server.cli_store
import server.cli_token


def register(app: typer.Typer) -> None:
    """Add the commands of this package to the `arena` command."""
    server.cli_ladder.register(app)
    server.cli_serve.register(app)
    server.cli_ratings.register(app)
    server.cli_store.register(app)
    server.cli_token.register(app)
    server.cli_check.register(app)
    server.cli_log.register(app)
