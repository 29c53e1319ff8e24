"""`arena token`: who may connect."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Annotated, TypeVar

import typer

from arena.console import DatabaseOption, Failure, JsonOption, write_json
from arena.protocol.values import Role
from arena.server.commands.in_store import DATABASE, in_store
from arena.server.commands.output import print_table, say
from arena.server.store import tokens
from arena.server.store.tokens import TokenError

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The name that the token opens.")]
T = TypeVar("T")


def register(app: typer.Typer) -> None:
    """Add `arena token` and its commands."""
    token = typer.Typer(help="Who may connect: make, list, rotate and revoke tokens.", no_args_is_help=True)
    for command in (create, list_, rotate, revoke):
        token.command(command.__name__.rstrip("_"))(command)
    app.add_typer(token, name="token")


def create(
    name: NameArgument,
    role: Annotated[
        Role,
        typer.Option(
            "--role",
            metavar="bot|spectator|admin",
            help="bot plays, spectator watches, admin runs the host's tools.",
        ),
    ] = "bot",
    db: DatabaseOption = DATABASE,
) -> None:
    """Make a token for a name, and show it. It is kept as a hash, so it is never shown again.

    A server that runs on the same database lets it in from now on.

    Example: arena token create my-bot --db sqlite:///arena.db
    """
    token = in_store(db, lambda engine: _explained(tokens.create(engine, name, role)), make=True)
    _show(name, token)


def list_(db: DatabaseOption = DATABASE, json: JsonOption = None) -> None:
    """List the names, their roles, and when their tokens were made, rotated and revoked.

    Example: arena token list --json -
    """
    found = in_store(db, tokens.all_tokens)
    columns = ("name", "role", "created", "rotated", "revoked")
    if json is not None:
        write_json([{column: getattr(token, column) for column in columns} for token in found], json)
        return
    rows = [[getattr(token, column) or "-" for column in columns] for token in found]
    print_table(dict.fromkeys(columns, "left"), rows)


def rotate(name: NameArgument, db: DatabaseOption = DATABASE) -> None:
    """Make a new token for a name, and show it. The old one lets nobody in any more.

    Example: arena token rotate my-bot
    """
    _show(name, in_store(db, lambda engine: _explained(tokens.rotate(engine, name))))


def revoke(name: NameArgument, db: DatabaseOption = DATABASE) -> None:
    """Let nobody in under a name from now on. Whoever is connected stays until it leaves.

    Example: arena token revoke my-bot
    """
    in_store(db, lambda engine: _explained(tokens.revoke(engine, name)))
    say(f"the token of {name} is revoked")


async def _explained(work: Awaitable[T]) -> T:
    try:
        return await work
    except TokenError as error:
        raise Failure(str(error)) from None


def _show(name: str, token: str) -> None:
    say(f"the token of {name}, shown this once:")
    typer.echo(token)
