"""Latency of the web pages' requests on stores of many finished matches.

    python -m benchmarks.size [--most 1000000] [--write]

The stores are filled with 1,000, 10,000 … matches of 100 plies. `arena serve` then answers each kind of request that
the web pages send, from six clients in parallel. The parameters of the requests differ each time.
`benchmarks.growth` measures the cost of a move and the start-up time on such stores.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
from urllib.parse import quote

import sqlalchemy as sa

from arena.server.store import tokens
from arena.server.store.database import Engine, open_store
from arena.server.store.schema import matches, records
from arena.server.store.stats import StoreStats, load_store_stats
from arena.server.web.page_process import MAX_PARALLEL_RESPONSES
from arena.server.web.request_queue import MAX_PROCESSOR_CORE_SHARE
from arena.server.web.routes import ROUTES, find_route_key
from benchmarks.hostile.stranger import TrafficCounts, send_http_request
from benchmarks.kit.filled_store import (
    BOT_COUNT,
    EVENT_NAME,
    LADDER_COUNT,
    STORE_KIND_TITLES,
    create_database,
    create_filled_store,
    give_matches_own_records,
)
from benchmarks.kit.measure import format_markdown_table
from benchmarks.kit.results import SERVER_PAGE, format_verdict, start_recording_conditions
from benchmarks.kit.running_server import run_arena_server

SECONDS_PER_REQUEST_KIND = 5.0
"""Minimum time for which each kind of request is measured, in seconds."""
PARALLEL_CLIENT_COUNT = 6
"""Number of clients that send requests in parallel."""
UNLIMITED_SERVER_OPTIONS = (
    "--set=limits.connections=10000",
    "--set=limits.connections_per_address=10000",
    "--set=limits.work_ms_per_second=1e9",
    "--set=limits.cut_offs=100000",
)
"""Options of `arena serve` that practically lift its rate limits."""
MIN_REQUESTS_PER_CLIENT = 40
"""Minimum number of requests of each kind from each of the PARALLEL_CLIENT_COUNT parallel clients."""
DISTINCT_RECORD_COUNT = 200
"""Number of matches with a record of their own. Requests ask only for these records; all other matches share sample records."""

LARGEST_STORE_MATCH_COUNT = 1_000_000
"""Number of matches in the largest store. The upper bounds of latencies are promised for this size."""
MAX_P95_MS, MAX_MATCH_BYTES = 50, 4000
"""Promised upper bounds in the largest store: p95 of each kind of request in ms, and compressed size of a match in bytes."""

MakeUrlPath = Callable[[random.Random], str]


@dataclass
class StoreLatencies:
    """Size of a store with `match_count` finished matches, and the latencies measured on it."""

    store_kind: str
    match_count: int
    store_stats: StoreStats
    mean_match_bytes: float
    """Average size of a match's compressed record and event log, in bytes."""
    latencies_ms_by_request: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    """Latencies in ms, by kind of request, as (p50, p95, longest latency of the clients' first answers)."""


def make_url_path_functions(matches: Sequence[tuple[str, str, str]]) -> dict[str, MakeUrlPath]:
    """Return functions that make a URL path with random parameters, by kind of request.

    matches: matches that the paths can refer to, as `load_sample_matches` returns them
    """

    def draw_bot(rng: random.Random) -> str:
        return quote(f"bot {rng.randrange(BOT_COUNT)}")

    def draw_cursor(rng: random.Random) -> str:
        match, finished, _ = rng.choice(matches)
        return quote(f"{finished}|{match}")

    return {
        "table": lambda _: "/api/table",
        "table of an event": lambda _: f"/api/table?event={EVENT_NAME}",
        "table of a ladder": lambda rng: (
            f"/api/table?event={quote(f'ladder {rng.randrange(1, LADDER_COUNT, 5)}')}"
        ),
        "event": lambda rng: f"/api/event?name={quote(f'ladder {rng.randrange(1, LADDER_COUNT, 5)}')}",
        "versus": lambda rng: f"/api/versus?bot={draw_bot(rng)}&opponent={draw_bot(rng)}",
        "search of two bots": lambda rng: (
            f"/api/search?limit=50&bot={draw_bot(rng)}&opponent={draw_bot(rng)}"
        ),
        "search of a bot on another map": lambda rng: (
            f"/api/search?limit=50&bot={draw_bot(rng)}&map=usa&result=lost&before={draw_cursor(rng)}"
        ),
        "search of a map and a reason": lambda rng: (
            f"/api/search?limit=50&map=m2&result=elimination&before={draw_cursor(rng)}"
        ),
        "search of an opening": lambda rng: f"/api/search?limit=50&like={rng.choice(matches)[0]}",
        "search of a reason": lambda rng: (
            f"/api/search?limit=50&result=elimination&before={draw_cursor(rng)}"
        ),
        "records of an event": lambda _: f"/api/records?limit=50&event={EVENT_NAME}",
        "bot": lambda rng: f"/api/bot/{draw_bot(rng)}",
        "guest": lambda rng: f"/api/bot/{quote(rng.choice(matches)[2])}",
        "records": lambda rng: f"/api/records?limit={rng.randrange(1, 51)}",
        "records before": lambda rng: f"/api/records?limit=50&before={draw_cursor(rng)}",
        "records of a bot": lambda rng: (
            f"/api/records?limit=50&bot={draw_bot(rng)}&before={draw_cursor(rng)}"
        ),
        "records of a game": lambda rng: f"/api/records?limit=50&game=tictactoe&before={draw_cursor(rng)}",
        "record": lambda rng: f"/api/record/{rng.choice(matches[:DISTINCT_RECORD_COUNT])[0]}",
        "log": lambda rng: f"/api/log/{rng.choice(matches[:DISTINCT_RECORD_COUNT])[0][:16]}",
    }


async def measure_request_seconds(url: str, path: str, credentials: str) -> float:
    """Return the time from connecting to the last byte of the answer to a GET, in seconds.

    credentials: value of the Authorization header. Raises RuntimeError unless the status is 200.
    """
    start_time = time.perf_counter()
    status, body = await send_http_request(url, "127.0.0.1", path, TrafficCounts(), credentials)
    if status != "200":
        raise RuntimeError(f"GET {path} was answered with the status {status}, not 200: {body[:200]!r}")
    return time.perf_counter() - start_time


async def measure_request_latencies_ms(url: str, make_url_path: MakeUrlPath, credentials: str) -> list[float]:
    """Send one kind of request from PARALLEL_CLIENT_COUNT parallel clients. Return the latencies in ms.

    Each client gets at least MIN_REQUESTS_PER_CLIENT answers, for the p95, in at least SECONDS_PER_REQUEST_KIND.

    url: URL of the server; credentials: value of the Authorization header
    make_url_path: function that returns the URL path of each request
    """
    durations: list[float] = []
    rng = random.Random(1)
    end_time = time.monotonic() + SECONDS_PER_REQUEST_KIND
    while time.monotonic() < end_time or len(durations) < MIN_REQUESTS_PER_CLIENT * PARALLEL_CLIENT_COUNT:
        paths = [make_url_path(rng) for _ in range(PARALLEL_CLIENT_COUNT)]
        durations += [
            1000 * seconds
            for seconds in await asyncio.gather(
                *(measure_request_seconds(url, path, credentials) for path in paths)
            )
        ]
        cost = max(ROUTES[find_route_key(path.partition("?")[0]) or "/healthz"].cost_us for path in paths)
        await asyncio.sleep(cost / 1e6 * MAX_PARALLEL_RESPONSES / MAX_PROCESSOR_CORE_SHARE)
    return durations


async def load_sample_matches(engine: Engine, match_count: int) -> list[tuple[str, str, str]]:
    """Return up to 2,000 random matches of a store with `match_count` matches, as (id, end time, name of the first player)."""
    numbers = random.Random(1).sample(range(1, match_count + 1), min(match_count, 2000))
    query = sa.select(matches.c.match, matches.c.finished, matches.c.maxie).where(
        matches.c.number.in_(numbers)
    )
    async with engine.connect() as connection:
        return [(row.match, row.finished, row.maxie) for row in (await connection.execute(query)).all()]


async def measure_store_latencies(store_kind: str, database_url: str, match_count: int) -> StoreLatencies:
    """Fill a store with `match_count` matches, and measure each kind of request on it.

    store_kind: `sqlite` or `postgresql`
    database_url: URL of an empty database
    """
    await create_filled_store(database_url, match_count)
    async with open_store(database_url) as engine:
        stats = await load_store_stats(engine)
        sample_matches = await load_sample_matches(engine, match_count)
        await give_matches_own_records(
            engine, [match for match, _, _ in sample_matches[:DISTINCT_RECORD_COUNT]]
        )
        async with engine.connect() as connection:
            length = sa.func.avg(sa.func.length(records.c.packed))
            match_bytes = float((await connection.execute(sa.select(length))).scalar_one())
        token = await tokens.create_token(engine, "host", "admin")
    with run_arena_server(1, *UNLIMITED_SERVER_OPTIONS, database_url=database_url) as running:
        latencies = StoreLatencies(store_kind, match_count, stats, match_bytes)
        url_path_functions = make_url_path_functions(sample_matches)
        for name, make_url_path in url_path_functions.items():
            times = await measure_request_latencies_ms(running.url, make_url_path, f"host:{token}")
            percentiles = statistics.quantiles(times, n=20)
            latencies.latencies_ms_by_request[name] = (
                percentiles[9],
                percentiles[18],
                max(times[:PARALLEL_CLIENT_COUNT]),
            )
    return latencies


def format_figures_by_name(latencies: Sequence[StoreLatencies]) -> dict[str, str]:
    """Return the texts to write into SERVER.md, by the name of their placeholder."""
    largest_count = max(latency.match_count for latency in latencies)
    names = list(latencies[0].latencies_ms_by_request)
    tables = {}
    for store in dict.fromkeys(latency.store_kind for latency in latencies):
        columns = [latency for latency in latencies if latency.store_kind == store]
        rows = [
            [name, *(_format_latencies_ms(each.latencies_ms_by_request[name]) for each in columns)]
            for name in names
        ]
        rows += [
            ["bytes per match, compressed", *(f"{each.mean_match_bytes:,.0f}" for each in columns)],
            [
                "bytes per match with rows and indices",
                *(f"{each.store_stats.bytes_per_match:,.0f}" for each in columns),
            ],
            ["bytes of the store", *(f"{each.store_stats.total_bytes / 1e6:,.0f} MB" for each in columns)],
        ]
        tables[f"size.{store}"] = format_markdown_table(
            ["", *(f"{each.match_count:,}" for each in columns)], rows
        )
    largest = [latency for latency in latencies if latency.match_count == largest_count]
    slowest = max(latency.latencies_ms_by_request[name][1] for latency in largest for name in names)
    match_bytes = max(latency.mean_match_bytes for latency in largest)
    match_bytes_with_rows = max(latency.store_stats.bytes_per_match or 0 for latency in largest)
    size = f"{match_bytes / 1000:.1f} KB; {match_bytes_with_rows / 1000:.1f} KB with its rows and all indices"
    return {
        **tables,
        "size.p95": format_verdict(f"at most {slowest:.0f} ms", is_bound_kept=slowest < MAX_P95_MS),
        "size.match": format_verdict(size, is_bound_kept=match_bytes < MAX_MATCH_BYTES),
    }


def _format_latencies_ms(latencies_ms: tuple[float, float, float]) -> str:
    return " / ".join(f"{milliseconds:.1f}" for milliseconds in latencies_ms)


def main() -> None:
    """Measure all stores, and print the figures. With `--write`, also write them to SERVER.md."""
    parser = SERVER_PAGE.make_parser(__doc__)
    parser.add_argument(
        "--most",
        type=int,
        default=LARGEST_STORE_MATCH_COUNT,
        help="number of matches in the largest store; default: %(default)s",
    )
    arguments = SERVER_PAGE.parse_arguments(parser)
    get_conditions, latencies = start_recording_conditions(), []
    sizes = [10**power for power in range(3, 10) if 10**power <= arguments.most]
    for store, count in product(STORE_KIND_TITLES, sizes):
        start_time = time.perf_counter()
        with create_database(store) as database:
            latencies.append(asyncio.run(measure_store_latencies(store, database, count)))
        print(f"{store}, {count:,} matches: {time.perf_counter() - start_time:.0f} s", flush=True)
    SERVER_PAGE.publish(
        "size", format_figures_by_name(latencies), get_conditions, should_write=arguments.write
    )


if __name__ == "__main__":
    main()
