"""How late the event loop is while two threads search: a connection must go on answering pings."""

from __future__ import annotations

import asyncio
import statistics
import threading
from typing import Any

from benchmarks.measure import Section, game, positions
from benchmarks.results import claim
from bots.engine.catalogue import weights_for
from bots.engine.searcher import Searcher, Settings

SECONDS = 8.0
TICK = 0.001


async def _lateness(seconds: float) -> list[float]:
    """Milliseconds by which a sleep of a tick ended late, again and again."""
    loop = asyncio.get_running_loop()
    found = []
    end = loop.time() + seconds
    while (now := loop.time()) < end:
        await asyncio.sleep(TICK)
        found.append(1000 * (loop.time() - now - TICK))
    return found


def _think(searcher: Searcher[Any, Any], board: Any, over: threading.Event) -> None:
    for position in positions(board, 50):
        for _ in searcher.deepen(position, stop=over.is_set):
            pass
        if over.is_set():
            return


def run() -> Section:
    """The same loop without and with a search beside it."""
    board = game("world")
    searcher = Searcher(board, weights_for(board, "features"), Settings(threads=2))
    searcher.warm_up()
    quiet = asyncio.run(_lateness(SECONDS / 4))
    over = threading.Event()
    thinker = threading.Thread(target=_think, args=(searcher, board, over))
    thinker.start()
    busy = asyncio.run(_lateness(SECONDS))
    over.set()
    thinker.join()
    searcher.close()
    rows = []
    for name, late in (("nobody searches", quiet), ("2 threads search", busy)):
        cut = statistics.quantiles(late, n=1000)
        rows.append(
            [name, str(len(late)), *(f"{ms:.2f}" for ms in (cut[499], cut[989], cut[998], max(late)))]
        )
    return Section(
        "Delay of the event loop",
        f"How late `asyncio.sleep({TICK})` returns in a process whose {searcher.settings.threads} search threads keep "
        f"both cores busy on world; {SECONDS:.0f} s.",
        ["", "ticks", "median, ms", "p99, ms", "p99.9, ms", "worst, ms"],
        rows,
        claims=[
            claim("the event loop's delay while 2 threads search, p99", "at most 5 ms", f"{rows[1][3]} ms")
        ],
    )
