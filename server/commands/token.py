"""`arena token`: manage the tokens with which bots and spectators connect."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer
from msgspec import to_builtins

from arena.console import (
    CommandError,
    DatabaseOption,
    JsonOption,
    err,
    explain_write_errors,
    print_table_or_write_json,
)
from arena.protocol.values import Role
from arena.server.commands.store_access import DEFAULT_DATABASE_URL, require_valid_name_argument, run_on_store
from arena.server.store import tokens
from arena.server.store.names import find_name_unavailability_reason

NameArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="Name of the bot or person that uses the token.")
]


def create(
    name: NameArgument,
    role: Annotated[
        Role,
        typer.Option(
            "--role",
            metavar="bot|spectator|admin",
            help="Role: bot (plays), spectator (watches) or admin (also manages the server at /host).",
        ),
    ] = "bot",
    owner: Annotated[
        str, typer.Option("--owner", metavar="OWNER", help="Owner of the bot; default: the bot's own name.")
    ] = "",
    db: DatabaseOption = DEFAULT_DATABASE_URL,
) -> None:
    """Create a token for a name, and show it once.

    Only its hash is stored, so it is never shown again.

    Servers on the same database accept the token immediately. The matchmaker serves owners in turn. Bots of one owner
    never meet in a rated match.

    Example: arena token create my-bot --db sqlite:///arena.db
    """
    for text in (name, owner) if owner else (name,):  # before a missing store is created
        require_valid_name_argument(text)
    if (why := find_name_unavailability_reason(name, ())) is not None:
        raise CommandError(why)
    run_on_store(
        db,
        lambda engine: tokens.create_token(engine, name, role, owner, partial(_print_token, name)),
        creates_missing_file=True,
    )


def list_(db: DatabaseOption = DEFAULT_DATABASE_URL, json: JsonOption = None) -> None:
    """List names with their roles, owners and the times of their tokens.

    The table shows when each token was created, rotated and revoked.

    Example: arena token list --json -
    """
    listed_tokens = run_on_store(db, tokens.list_tokens)
    columns = ("name", "role", "owner", "created", "rotated", "revoked")
    tokens_json = [
        {column: value for column, value in to_builtins(token).items() if column in columns}
        for token in listed_tokens
    ]
    rows = [[value or "-" for value in token_json.values()] for token_json in tokens_json]
    print_table_or_write_json(tokens_json, json, dict.fromkeys(columns, "left"), rows)


def rotate(name: NameArgument, db: DatabaseOption = DEFAULT_DATABASE_URL) -> None:
    """Create a new token for a name, and make the old one invalid.

    Example: arena token rotate my-bot
    """
    run_on_store(
        db, lambda engine: tokens.rotate_token(engine, name, before_commit=partial(_print_token, name))
    )


def revoke(name: NameArgument, db: DatabaseOption = DEFAULT_DATABASE_URL) -> None:
    """Revoke the token of a name.

    Running servers disconnect the name within a second.

    Example: arena token revoke my-bot
    """
    run_on_store(db, lambda engine: tokens.revoke_token(engine, name))
    err.print(f"the token of {name} is revoked")


def _print_token(name: str, token: str) -> None:
    err.print(f"the token of {name}, shown this once:")
    with explain_write_errors("standard output"):  # an OSError would be taken for a database error
        typer.echo(token)


SUBCOMMAND_FUNCTIONS = (create, list_, rotate, revoke)
