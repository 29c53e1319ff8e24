"""`arena serve`: a server that bots dial into, and that keeps them busy with each other."""

from __future__ import annotations

import logging
import os
import signal
from pathlib import Path
from typing import Annotated

import anyio
import typer

from console import (
    ConcurrencyOption,
    DatabaseOption,
    Failure,
    GameOption,
    MapOption,
    MarginOption,
    Misuse,
    RecordOption,
    TimeOption,
    err,
    out,
)
from games.core import GameError
from maps.loader import MapError
from maps.setup import make_setup
from protocol.record import Record, to_line
from protocol.timecontrol import BadTimeControl, TimeControl
from server.host import CannotListen, open_host
from server.matchmaker import Offer, keep_busy
from server.store import StoreError


def register(app: typer.Typer) -> None:
    """Add `arena serve`."""
    app.command()(serve)


def serve(
    host: Annotated[str, typer.Option("--host", help="Address to listen on; 0.0.0.0 for all.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port; 0 for any free one.")] = 8765,
    game: GameOption = "riskless",
    map: MapOption = "m2",
    tc: TimeOption = "10+0.1",
    margin: MarginOption = 100,
    ready: Annotated[
        int, typer.Option("--ready", min=1, max=600, help="Seconds a bot may take to get ready.")
    ] = 30,
    grace: Annotated[
        int, typer.Option("--grace", min=0, max=3600, help="Seconds a lost bot may take to return.")
    ] = 30,
    concurrency: ConcurrencyOption = 0,
    token: Annotated[
        list[str] | None,
        typer.Option("--bot", help="Let only bots of these names in, each by a token shown at start."),
    ] = None,
    record: RecordOption = None,
    db: DatabaseOption = "sqlite:///arena.db",
    verbose: Annotated[bool, typer.Option("--verbose", help="Log comings, goings and faults.")] = False,  # noqa: FBT002
) -> None:
    """Host matches: bots connect, and whoever is idle plays whoever it has met least.

    Without --bot any name may connect and no token is needed, so leave the address at 127.0.0.1 or on
    a private network. Ctrl-C stops; matches that are over are in the database and in --record.

    Example: arena serve --port 8765 --map world --tc 10+0.1
    """
    try:
        offer = Offer(make_setup(game, map), TimeControl.parse(tc), margin, ready * 1000, "serve")
    except (GameError, MapError, BadTimeControl) as error:
        raise Misuse(str(error)) from None
    level = logging.INFO if verbose else logging.WARNING
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    at_once = concurrency or max(1, os.cpu_count() or 1)

    async def main() -> None:
        async with (
            open_host(host=host, port=port, database=db, grace_ms=grace * 1000, anyone=not token) as running,
            anyio.create_task_group() as tasks,
        ):
            err.print(f"listening on {running.url}; connect a bot: arena bot greedy --url {running.url}")
            for name in token or ():
                err.print(f"token for {name}: {running.issue_token(name)}", markup=False)
            tasks.start_soon(keep_busy, running, offer, lambda each: _tell(each, record), at_once)
            with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
                async for _ in signals:
                    err.print("stopping")
                    tasks.cancel_scope.cancel()
                    return

    try:
        anyio.run(main, backend_options={"use_uvloop": True})
    except (CannotListen, StoreError) as error:
        raise Failure(str(error)) from None


async def _tell(record: Record, path: Path | None) -> None:
    result, players = record.result, record.players
    winner = f"{result.winner} wins" if result.winner else "draw"
    out.print(
        f"{players.maxie} - {players.minnie}: {winner}, {result.reason.value}, {len(record.moves)} plies",
        markup=False,
        highlight=False,
    )
    if path is not None:
        async with await anyio.open_file(path, "a", encoding="utf-8") as lines:
            await lines.write(to_line(record) + "\n")
