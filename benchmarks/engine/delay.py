"""Delay of a bot's event loop while two threads search, and delay from a search's time limit to its end.

A bot must answer pings while it searches, and must never send a move late.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Any

from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.searcher import Searcher, Settings
from benchmarks.kit.measure import format_markdown_table, make_midgame_positions, make_riskless_game
from benchmarks.kit.results import format_verdict

MEASUREMENT_SECONDS = 8.0
"""Seconds for which the event loop's delay is measured during searches; without searches, a quarter of this time."""
LOOP_SLEEP_SECONDS = 0.001
"""Duration asked of each sleep in the event loop, in seconds. The measured delay is how much longer the sleep took."""
SEARCH_SECONDS = 0.5
"""Seconds for which the threads search each position while the event loop's delay is measured."""
STOP_DELAY_SAMPLE_COUNT = 1000
"""Number of searches whose delay from the time limit to the end is measured."""
SEARCH_THREAD_COUNT = 2
"""Number of threads that search while the event loop's delay is measured."""
MAX_P99_DELAY_MS = 5.0
"""Promised upper bound of the p99 of the event loop's delay while SEARCH_THREAD_COUNT threads search, in ms."""
DELAY_ROW_TITLES = (
    "the loop, nobody searches",
    "the loop, 2 threads search",
    "a stopped search, 1 thread",
    "a stopped search, 2 threads",
)
MIN_SAMPLES_ABOVE_QUANTILE = 10
"""Number of measured times that must lie above a quantile. A quantile with fewer times above it is too uncertain, and is not
shown.
"""


async def _measure_sleep_delays(seconds: float) -> list[float]:
    """Sleep for LOOP_SLEEP_SECONDS again and again, for `seconds` in all. Return by how many ms each sleep took too long."""
    loop = asyncio.get_running_loop()
    delays = []
    deadline = loop.time() + seconds
    while (now := loop.time()) < deadline:
        await asyncio.sleep(LOOP_SLEEP_SECONDS)
        delays.append(1000 * (loop.time() - now - LOOP_SLEEP_SECONDS))
    return delays


def _make_deadline_predicate(
    deadline_seconds: float, is_stopped: Callable[[], bool] = lambda: False
) -> Callable[[], bool]:
    """Return a function that returns True once `time.perf_counter()` reaches `deadline_seconds` or `is_stopped()` is True."""
    return lambda: time.perf_counter() >= deadline_seconds or is_stopped()


def _search_until_stopped(
    searcher: Searcher[Any, Any], positions: Sequence[Any], stop: threading.Event
) -> None:
    """Search one position after another by iterative deepening, as a bot does, until `stop` is set."""
    for position in cycle(positions):
        for _ in searcher.deepen(
            position, stop=_make_deadline_predicate(time.perf_counter() + SEARCH_SECONDS, stop.is_set)
        ):
            pass
        if stop.is_set():
            return


def _measure_stop_delays(searcher: Searcher[Any, Any], positions: Sequence[Any]) -> list[float]:
    """Run STOP_DELAY_SAMPLE_COUNT searches of `positions`, each with a time limit. Return by how many ms each search exceeded
    its limit.
    """
    overruns = []
    for i in range(STOP_DELAY_SAMPLE_COUNT):
        deadline = time.perf_counter() + 0.001 * (2 + i % 17)
        for _ in searcher.deepen(positions[i % len(positions)], stop=_make_deadline_predicate(deadline)):
            pass
        overruns.append(1000 * (time.perf_counter() - deadline))
    return overruns


def format_quantile_ms(times_ms: Sequence[float], quantile: float) -> str:
    """Return the quantile `quantile` (0 to 1) of the times as text; empty if too few times lie above it."""
    times_above = round(len(times_ms) * (1 - quantile))
    return f"{sorted(times_ms)[-1 - times_above]:.2f}" if times_above >= MIN_SAMPLES_ABOVE_QUANTILE else ""


def run_benchmark() -> dict[str, Any]:
    """Measure how late the event loop resumes, without and with a search, and how late searches end. Return these delays as
    plain data.
    """
    board = make_riskless_game("world")
    midgame_positions = make_midgame_positions(board, 8)
    searcher = Searcher(board, weights_for(board, "features"), Settings(threads=SEARCH_THREAD_COUNT))
    searcher.warm_up()
    quiet_delays = asyncio.run(_measure_sleep_delays(MEASUREMENT_SECONDS / 4))
    stop = threading.Event()
    search_thread = threading.Thread(target=_search_until_stopped, args=(searcher, midgame_positions, stop))
    search_thread.start()
    busy_delays = asyncio.run(_measure_sleep_delays(MEASUREMENT_SECONDS))
    stop.set()
    search_thread.join()
    two_thread_delays = _measure_stop_delays(searcher, midgame_positions)
    searcher.close()
    single_searcher = Searcher(board, weights_for(board, "features"), Settings())
    single_delays = _measure_stop_delays(single_searcher, midgame_positions)
    single_searcher.close()
    return {
        "ms": {
            name: _format_quantiles(delays)
            for name, delays in zip(
                DELAY_ROW_TITLES, (quiet_delays, busy_delays, single_delays, two_thread_delays), strict=True
            )
        }
    }


def _format_quantiles(delays_ms: Sequence[float]) -> list[str]:
    return [
        str(len(delays_ms)),
        *(format_quantile_ms(delays_ms, share) for share in (0.5, 0.99, 0.999)),
        f"{max(delays_ms):.2f}",
    ]


def format_figures_by_name(raw_data: dict[str, Any]) -> dict[str, str]:
    """Return texts with the quantiles of all delays, by the name of their placeholder in RESULTS.md.

    raw_data: result of `run_benchmark`
    """
    headings = ["", "times", "median, ms", "p99, ms", "p99.9, ms", "worst, ms"]
    p99 = raw_data["ms"][DELAY_ROW_TITLES[1]][2]
    return {
        "delay.table": format_markdown_table(
            headings, [[name, *cells] for name, cells in raw_data["ms"].items()]
        ),
        "delay.loop": format_verdict(f"{p99} ms", is_bound_kept=float(p99) <= MAX_P99_DELAY_MS),
    }
