"""How late the event loop is while two threads search, and how late a search ends after its time.

A connection must go on answering pings, and a bot must never be late.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from itertools import cycle
from typing import Any

from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.searcher import Searcher, Settings
from benchmarks.kit.measure import Section, game, positions
from benchmarks.kit.results import claim

SECONDS = 8.0
TICK = 0.001
THINKING = 0.5
"""Seconds for each position."""
STOPS = 1000
"""How often a search is stopped to see how late it ends."""
BEYOND = 10
"""A quantile is told only where so many times lie beyond it: of fewer it is a guess."""


async def _lateness(seconds: float) -> list[float]:
    """Milliseconds by which a sleep of a tick ended late, again and again."""
    loop = asyncio.get_running_loop()
    found = []
    end = loop.time() + seconds
    while (now := loop.time()) < end:
        await asyncio.sleep(TICK)
        found.append(1000 * (loop.time() - now - TICK))
    return found


def _think(searcher: Searcher[Any, Any], chosen: Sequence[Any], over: threading.Event) -> None:
    """Deepen as a bot does, a position after the other, each for a while."""
    for position in cycle(chosen):
        end = time.perf_counter() + THINKING
        for _ in searcher.deepen(position, stop=lambda end=end: time.perf_counter() >= end or over.is_set()):  # type: ignore[misc]
            pass
        if over.is_set():
            return


def _overrun(searcher: Searcher[Any, Any], chosen: Sequence[Any]) -> list[float]:
    """Milliseconds by which a search ended after the moment from which its stop said yes."""
    found = []
    for i in range(STOPS):
        end = time.perf_counter() + 0.001 * (2 + i % 17)
        for _ in searcher.deepen(chosen[i % len(chosen)], stop=lambda end=end: time.perf_counter() >= end):  # type: ignore[misc]
            pass
        found.append(1000 * (time.perf_counter() - end))
    return found


def told(times: Sequence[float], share: float) -> str:
    """The time that this share of all stays below; nothing where too few lie beyond it."""
    beyond = round(len(times) * (1 - share))
    return f"{sorted(times)[-1 - beyond]:.2f}" if beyond >= BEYOND else ""


def run() -> Section:
    """The same loop without and with a search beside it."""
    board = game("world")
    chosen = positions(board, 8)
    searcher = Searcher(board, weights_for(board, "features"), Settings(threads=2))
    searcher.warm_up()
    quiet = asyncio.run(_lateness(SECONDS / 4))
    over = threading.Event()
    thinker = threading.Thread(target=_think, args=(searcher, chosen, over))
    thinker.start()
    busy = asyncio.run(_lateness(SECONDS))
    over.set()
    thinker.join()
    two = _overrun(searcher, chosen)
    searcher.close()
    alone = Searcher(board, weights_for(board, "features"), Settings())
    one = _overrun(alone, chosen)
    alone.close()
    rows = []
    for name, late in (
        ("the loop, nobody searches", quiet),
        ("the loop, 2 threads search", busy),
        ("a stopped search, 1 thread", one),
        ("a stopped search, 2 threads", two),
    ):
        quantiles = (told(late, share) for share in (0.5, 0.99, 0.999))
        rows.append([name, str(len(late)), *quantiles, f"{max(late):.2f}"])
    return Section(
        "Delay of the event loop, and of a search's end",
        f"How late `asyncio.sleep({TICK})` returns in a process whose {searcher.settings.threads} search threads keep "
        f"both cores busy on world, {SECONDS:.0f} s; and how long after its time, 2 to 18 ms, a search has ended: the "
        "bots keep back 10 ms of every move for that and the way to the server.",
        ["", "times", "median, ms", "p99, ms", "p99.9, ms", "worst, ms"],
        rows,
        f"A quantile stands only where at least {BEYOND} times lie beyond it.",
        claims=[
            claim("the event loop's delay while 2 threads search, p99", "at most 5 ms", f"{rows[1][3]} ms")
        ],
    )
