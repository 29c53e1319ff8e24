"""`arena log`: show a match move by move, with times and errors."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

import msgspec
import typer
from msgspec import structs

from arena.console import (
    BotFileOption,
    CommandError,
    DatabaseOption,
    JsonOption,
    Justify,
    OwnGamesOption,
    UsageError,
    load_bot_account,
    out,
    print_table,
    register_games,
    write_json,
)
from arena.fetch import fetch_body
from arena.match.timeline import TimelineEntry
from arena.server.commands.store_access import DEFAULT_DATABASE_URL, run_on_store
from arena.server.web.credentials import make_basic_auth_header
from arena.server.web.match_log import MatchLog, load_match_log
from arena.server.web.routes import NotFound

MAX_LOG_RESPONSE_BYTES = 64 * 1024 * 1024
"""Maximum size of a match log that `arena log --url` accepts from a server, in bytes."""

MAX_SHOWN_REASON_LENGTH = 60
"""Maximum length of an error's reason in the table, in characters; `--json` shows the whole reason."""

JUSTIFICATION_BY_COLUMN: dict[str, Justify] = {
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


def log(
    match: Annotated[str, typer.Argument(metavar="MATCH", help="Match id, or a unique prefix of it.")],
    bot: Annotated[
        str,
        typer.Option(
            "--bot", metavar="NAME", help="Show only this bot's actions; default: the actions of both bots."
        ),
    ] = "",
    db: DatabaseOption = None,
    url: Annotated[
        str,
        typer.Option(
            "--url", metavar="URL", help="Server to ask, instead of reading a database, e.g. ws://HOST:PORT."
        ),
    ] = "",
    name: Annotated[
        str,
        typer.Option(
            "--name", metavar="NAME", envvar="ARENA_NAME", help="Name to log in with; used only with --url."
        ),
    ] = "",
    token: Annotated[
        str,
        typer.Option(
            "--token",
            metavar="TOKEN",
            envvar="ARENA_TOKEN",
            help="Token to log in with; used only with --url.",
        ),
    ] = "",
    account: BotFileOption = None,
    game: OwnGamesOption = None,
    json: JsonOption = None,
) -> None:
    """Show a match from a server's journal, move by move.

    The table shows why a bot lost.

    Each row has the times of a move in ms (available, used, credited and remaining), the received message, and any
    error. The engines that the bots reported are shown above the table, with options and threads. A host can read any
    match from the database. The owner of a bot can ask the server for that bot's matches.

    Example: arena log 3f2a --bot my-bot --db sqlite:///arena.db

    Example: arena log 3f2a --url ws://127.0.0.1:8765 --name my-bot --token TOKEN

    Example: arena log 3f2a --as bot.toml
    """
    register_games(game)
    if account is not None:
        bot_account = load_bot_account(account)
        url, name, token = url or bot_account.url, name or bot_account.name, token or bot_account.token
    if url and db:
        raise UsageError("--db cannot be combined with --url: a log comes from a database or from a server")
    try:
        if url:
            match_log = _fetch_match_log(url, match, name, token.strip())
        else:
            match_log = run_on_store(db or DEFAULT_DATABASE_URL, lambda engine: load_match_log(engine, match))
        if bot:
            match_log = match_log.filter_by_bot(bot)
    except NotFound as error:
        raise CommandError(str(error)) from None
    if json is not None:
        write_json(match_log, json)
        return
    limits_text = f"{match_log.time_control}, margin {match_log.margin_ms} ms"
    out.print(
        f"match {match_log.match}: {match_log.game}, {match_log.maxie} (maxie) against {match_log.minnie} (minnie), {limits_text}"
    )
    for seat, engine in (("maxie", match_log.engines.maxie), ("minnie", match_log.engines.minnie)):
        if engine is not None:
            out.print(f"{seat}: {''.join(char if char.isprintable() else '?' for char in str(engine))}")
    print_table(
        JUSTIFICATION_BY_COLUMN, [_make_timeline_table_row(entry) for entry in match_log.timeline_entries]
    )
    if match_log.reason is None:
        out.print("the match is in progress")
    else:
        out.print(f"{match_log.winner or 'nobody'} won: {match_log.reason}: {match_log.detail}")


def _fetch_match_log(server_url: str, match_id: str, bot_name: str, token: str) -> MatchLog:
    """Ask the server at `server_url` for the log of a match, as the bot `bot_name` with its token.

    Raises CommandError if the server cannot be reached or does not return the log, and UsageError for an invalid URL or an
    empty name.
    """
    scheme, colon, server = server_url.partition("://")
    if scheme not in ("ws", "wss") or not colon or not server:
        raise UsageError(
            f"--url: {server_url!r:.100} is not a server URL: write ws://HOST:PORT or wss://HOST"
        )
    if not bot_name:
        raise UsageError("--url also needs --name, and --token if the host issued one")
    log_url = (
        f"{'https' if scheme == 'wss' else 'http'}://{server.rstrip('/')}/api/log/{quote(match_id, safe='')}"
    )
    headers = {"Authorization": make_basic_auth_header(bot_name, token)}
    try:
        return msgspec.json.decode(
            fetch_body(server_url, log_url, MAX_LOG_RESPONSE_BYTES, headers), type=MatchLog
        )
    except msgspec.DecodeError as error:
        raise CommandError(f"{server_url} did not answer with a match log: {error}") from None


def _make_timeline_table_row(entry: TimelineEntry) -> list[str]:
    reason = (
        entry.refusal_reason
        if len(entry.refusal_reason) <= MAX_SHOWN_REASON_LENGTH
        else f"{entry.refusal_reason[: MAX_SHOWN_REASON_LENGTH - 1]}…"
    )
    cells = structs.astuple(structs.replace(entry, time_ms=round(entry.time_ms), refusal_reason=reason))
    at, player, received, ply, had, took, credited, left, wrong = cells
    return [
        "-" if cell is None else str(cell)
        for cell in (at, player, ply, had, took, credited, left, received, wrong)
    ]
