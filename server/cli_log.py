"""`arena log`: why a match went as it did, move by move."""

from __future__ import annotations

from typing import Annotated

import sqlalchemy as sa
import typer
from msgspec import Struct, structs
from sqlalchemy.ext.asyncio import AsyncEngine

from console import DatabaseOption, Failure, JsonOption, Misuse, out, write_json
from protocol.messages import Seat
from server import store
from server.journal import events_of, terms_of
from server.referee import SEATS, Terms
from server.store_command import DATABASE, Justify, in_store, print_table
from server.story import Step, story

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


class Log(Struct, frozen=True):
    """What `--json` writes."""

    match: str
    game: str
    maxie: str
    minnie: str
    time_control: str
    margin_ms: int
    winner: Seat | None
    reason: str | None
    detail: str
    steps: list[Step]


def register(app: typer.Typer) -> None:
    """Add `arena log`."""
    app.command("log")(log)


def log(
    match: Annotated[str, typer.Argument(metavar="MATCH", help="The match's id, or how it begins.")],
    bot: Annotated[str, typer.Option("--bot", help="Only what this bot did; else both.")] = "",
    db: DatabaseOption = DATABASE,
    json: JsonOption = None,
) -> None:
    """Tell a match move by move from the journal of a server: why did a bot lose?

    For each move: the time that the bot had, took and was credited, and what was left, in ms; what
    the server received; and what was wrong with it, if anything.

    Example: arena log 3f2a --bot my-bot --db sqlite:///arena.db
    """
    told = in_store(db, lambda engine: _log(engine, match, bot))
    if json is not None:
        write_json(told, json)
        return
    limits = f"{told.time_control}, margin {told.margin_ms} ms"
    _say(f"match {told.match}: {told.game}, {told.maxie} (maxie) against {told.minnie} (minnie), {limits}")
    print_table(COLUMNS, [_row(step) for step in told.steps])
    if told.reason is None:
        _say("the match is in progress")
    else:
        _say(f"{told.winner or 'nobody'} won: {told.reason}: {told.detail}")


async def _log(engine: AsyncEngine, match: str, bot: str) -> Log:
    table = store.matches
    begins = table.c.match.startswith(match, autoescape=True)
    async with engine.connect() as connection:
        rows = (await connection.execute(sa.select(table).where(begins).limit(2))).all()
    if not rows:
        raise Misuse(
            f"no match begins with {match!r:.70}: the line of a finished match and its record have the id"
        )
    if len(rows) > 1:
        raise Misuse(f"several matches begin with {match!r:.70}: give more of the id")
    terms = terms_of(rows[0])
    seats = _seats(terms, bot)
    steps, result = story(terms, await events_of(engine, terms.match))
    return Log(
        match=terms.match,
        game=terms.game.name,
        maxie=terms.players.maxie,
        minnie=terms.players.minnie,
        time_control=str(terms.control),
        margin_ms=terms.margin_ms,
        winner=None if result is None or result.winner is None else SEATS[result.winner],
        reason=None if result is None else result.reason.value,
        detail="" if result is None else result.detail,
        steps=[step for step in steps if step.player is None or step.player in seats],
    )


def _seats(terms: Terms, bot: str) -> set[Seat]:
    names: dict[Seat, str] = {"maxie": terms.players.maxie, "minnie": terms.players.minnie}
    seats = {seat for seat, name in names.items() if bot in ("", name)}
    if not seats:
        raise Failure(f"--bot: {bot!r:.70} did not play that match; {' and '.join(names.values())} did")
    return seats


def _row(step: Step) -> list[str]:
    values = structs.astuple(structs.replace(step, at=round(step.at)))
    at, player, what, ply, had, took, credited, left, wrong = values
    return [
        "-" if each is None else str(each)
        for each in (at, player, ply, had, took, credited, left, what, wrong)
    ]


def _say(line: str) -> None:
    out.print(line, markup=False, highlight=False, soft_wrap=True)
