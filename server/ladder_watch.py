"""Looks at a ladder that is played elsewhere: what `arena ladder --watch` shows, from the store alone."""

from __future__ import annotations

import math
from pathlib import Path

import anyio
import msgspec

from console import Failure, err, out, write_json
from protocol.messages import Players
from protocol.record import Record
from server.ladder_store import Kept, read
from server.standings import is_void, table
from server.store import StoreError, open_store
from server.tables import in_words, show

LOOK_SECONDS = 1.0
"""From one look at the store to the next."""


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


async def _watch(url: str, event: str | None, seconds: float) -> Kept:
    async with open_store(url) as engine:
        shown: set[str] = set()
        until = anyio.current_time() + seconds
        while True:
            kept = await read(engine, event)
            if kept is None:
                raise Failure(f"there is no ladder {event or ''} in {url}".replace("  ", " "))
            for record in records_of(kept):
                if record.match not in shown:
                    shown.add(record.match)
                    err.print(
                        f"{len(shown)} {in_words(record)}", markup=False, highlight=False, soft_wrap=True
                    )
            if kept.finished is not None or anyio.current_time() >= until:
                return kept
            await anyio.sleep(LOOK_SECONDS)


def records_of(kept: Kept) -> list[Record]:
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


def bots_of(kept: Kept) -> list[str]:
    """Who plays."""
    return list(kept.plan["bots"])
