"""Looks at a ladder that is played elsewhere: what `arena ladder --watch` shows, from the store alone."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import anyio
import msgspec

from arena.console import Failure, err, out, write_json
from arena.ladder.reports.match_line import in_words
from arena.ladder.reports.standings import show
from arena.protocol.record import Record
from arena.protocol.values import Players
from arena.rating.standings import is_void, table
from arena.server.store import database
from arena.server.store.database import StoreError, open_store
from arena.server.store.ladders import StoredLadder, changes, read
from arena.server.store.upgrade import make_ready

LOOK_SECONDS = 1.0
"""How long to wait from one look at the store to the next."""

OVERLAP_SECONDS = 10
"""How long a match may take from its time stamp to being in the store for others to see."""


def watch_ladder(url: str, event: str | None, json: Path | None, seconds: float = math.inf) -> None:
    """Show each match as it ends, until the ladder is over; then the table. Raises console.Failure."""
    try:
        kept = anyio.run(_watch, url, event, seconds)
    except StoreError as error:
        raise Failure(str(error)) from None
    rows = table(bots_of(kept), records_of(kept))
    if json is not None:
        write_json({"event": kept.event, "finished": kept.finished, "table": rows}, json)
    if str(json) != "-":
        show(rows, out)


async def _watch(url: str, event: str | None, seconds: float) -> StoredLadder:
    async with open_store(url, make_ready) as engine:
        kept = await read(engine, event)
        if kept is None:
            raise Failure(f"there is no ladder {event or ''} in {url}".replace("  ", " "))
        number = _tell(kept, 0)
        until = anyio.current_time() + seconds
        seen, latest, over = set(kept.done), kept.started, kept.finished is not None
        while not over and anyio.current_time() < until:
            await anyio.sleep(LOOK_SECONDS)
            new = await changes(engine, kept.event, earlier(latest, OVERLAP_SECONDS), seen)
            number = _tell(replace(kept, plan=new.plan, done=new.ended), number)
            seen.update(new.ended)
            latest, over = new.latest, new.over
        # The ladder is read once more as a whole: the order and the end that the store has are what counts.
        return await read(engine, kept.event) or kept


def _tell(kept: StoredLadder, number: int) -> int:
    """Show the matches, the first of them under the next number: the number of the last."""
    records = records_of(kept)
    for place, record in enumerate(records, number + 1):
        err.print(f"{place} {in_words(record)}", markup=False, highlight=False, soft_wrap=True)
    return number + len(records)


def earlier(time: str, seconds: float) -> str:
    """The time so many seconds before another, both as the store writes times."""
    return database.written(datetime.fromisoformat(time) - timedelta(seconds=seconds))


def records_of(kept: StoredLadder) -> list[Record]:
    """The matches that count, by the names of the bots themselves."""
    bots = kept.plan["bots"]

    def bot(name: str) -> str:
        # A bot's second process is called `greedy#2`.
        return name if name in bots else name.rpartition("#")[0]

    return [
        msgspec.structs.replace(
            record, players=Players(bot(record.players.maxie), bot(record.players.minnie))
        )
        for record in kept.done.values()
        if not is_void(record)
    ]


def bots_of(kept: StoredLadder) -> list[str]:
    """The names of the bots that play."""
    return list(kept.plan["bots"])
