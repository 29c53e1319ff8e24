"""`arena log`: why a match went as it did, move by move."""

from __future__ import annotations

from base64 import b64encode
from http.client import HTTPException
from typing import Annotated
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

import msgspec
import typer
from msgspec import structs

from arena.console import (
    DatabaseOption,
    Failure,
    JsonOption,
    Misuse,
    OwnGamesOption,
    know_games,
    out,
    write_json,
)
from arena.match.timeline import TimelineEntry
from arena.server.commands.in_store import DATABASE, in_store
from arena.server.commands.output import Justify, print_table
from arena.server.web.match_log import Log, NoLog, match_log

NET_SECONDS = 20.0
LARGEST = 64 * 1024 * 1024
"""How many bytes of an answer are read at the most."""

COLUMNS: dict[str, Justify] = {
    "at ms": "right",
    "player": "left",
    "ply": "right",
    "had": "right",
    "took": "right",
    "credited": "right",
    "left": "right",
    "received": "left",
    "wrong": "left",
}


def register(app: typer.Typer) -> None:
    """Add `arena log`."""
    app.command("log")(log)


def log(
    match: Annotated[str, typer.Argument(metavar="MATCH", help="The match's id, or how it begins.")],
    bot: Annotated[
        str, typer.Option("--bot", metavar="NAME", help="Only what this bot did; else both.")
    ] = "",
    db: DatabaseOption = None,
    url: Annotated[
        str, typer.Option("--url", metavar="URL", help="Ask this server, ws://HOST:PORT, as a player.")
    ] = "",
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", envvar="ARENA_NAME", help="With --url: the bot's name.")
    ] = "",
    token: Annotated[
        str,
        typer.Option(
            "--token", metavar="TOKEN", envvar="ARENA_TOKEN", help="With --url: the token of that name."
        ),
    ] = "",
    game: OwnGamesOption = None,
    json: JsonOption = None,
) -> None:
    """Tell a match move by move from the journal of a server: why did a bot lose?

    For each move: the time that the bot had, took and was credited, and what was left, in ms; what
    the server received; and what was wrong with it, if anything. Above that stand the engines, with their
    options and threads, where the bots said so. The host asks its database for any
    match; a bot's owner asks the server for that bot's own.

    Example: arena log 3f2a --bot my-bot --db sqlite:///arena.db

    Example: arena log 3f2a --url ws://127.0.0.1:8765 --name my-bot --token TOKEN
    """
    know_games(game)
    if url and db:
        raise Misuse("--db asks a database and --url a server: give one of the two")
    try:
        if url:
            told = _fetch(url, match, name, token)
        else:
            told = in_store(db or DATABASE, lambda engine: match_log(engine, match))
        if bot:
            told = told.only(bot)
    except NoLog as none:
        raise Failure(str(none)) from None
    if json is not None:
        write_json(told, json)
        return
    limits = f"{told.time_control}, margin {told.margin_ms} ms"
    _say(f"match {told.match}: {told.game}, {told.maxie} (maxie) against {told.minnie} (minnie), {limits}")
    for seat, engine in (("maxie", told.engines.maxie), ("minnie", told.engines.minnie)):
        if engine is not None:
            _say(f"{seat}: {''.join(char if char.isprintable() else '?' for char in str(engine))}")
    print_table(COLUMNS, [_row(entry) for entry in told.steps])
    if told.reason is None:
        _say("the match is in progress")
    else:
        _say(f"{told.winner or 'nobody'} won: {told.reason}: {told.detail}")


def _fetch(url: str, match: str, name: str, token: str) -> Log:
    """The log from a server. Raises Failure or Misuse."""
    scheme, colon, rest = url.partition("://")
    if scheme not in ("ws", "wss") or not colon or not rest:
        raise Misuse(f"--url: {url!r:.100} is no URL of a server: write ws://HOST:PORT or wss://HOST")
    if not name:
        raise Misuse("--url: say whose match it is with --name, and --token where the host gave one")
    where = f"{'https' if scheme == 'wss' else 'http'}://{rest.rstrip('/')}/api/log/{quote(match, safe='')}"
    coded = b64encode(f"{name}:{token}".encode()).decode()
    request = Request(where, headers={"Authorization": f"Basic {coded}"})  # noqa: S310 - http or https, see above
    try:
        with urlopen(request, timeout=NET_SECONDS) as answer:  # noqa: S310
            return msgspec.json.decode(answer.read(LARGEST), type=Log)
    except HTTPError as error:
        with error:
            why = error.read(1000).decode(errors="replace").strip()
        raise Failure(f"the server answers {error.code}: {why}") from None
    except (OSError, HTTPException) as error:
        raise Failure(f"no answer from {url}: {getattr(error, 'reason', error)}") from None
    except msgspec.DecodeError as error:
        raise Failure(f"{url} answers with what is no log: {error}") from None


def _row(entry: TimelineEntry) -> list[str]:
    values = structs.astuple(structs.replace(entry, at=round(entry.at)))
    at, player, what, ply, had, took, credited, left, wrong = values
    return [
        "-" if each is None else str(each)
        for each in (at, player, ply, had, took, credited, left, what, wrong)
    ]


def _say(line: str) -> None:
    out.print(line, markup=False, highlight=False, soft_wrap=True)
