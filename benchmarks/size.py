"""The server on stores of very many finished matches; writes its section of SERVER.md, with a plot.

    python -m benchmarks.size [--least 1000] [--most 1000000] [--stores sqlite,postgresql] [--seconds 5] [--raw FILE]

Each store is filled with 1,000, 10,000 … matches of 100 plies. `arena serve` is started on it, and asked each question that
the page asks, six at once, each time for something else where there is something else to ask for. At the greatest size
bots play beside the questions. The server is then killed in the midst of matches, and started again.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import random
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import msgspec
import sqlalchemy as sa

from arena.server.net.turns import SHARE
from arena.server.store import tokens
from arena.server.store.database import Engine, make_engine, open_store, prepare
from arena.server.store.schema import matches, records
from arena.server.store.stats import Stats, stats
from arena.server.web.costs import cost_of
from arena.server.web.pages import STORE_QUESTIONS
from benchmarks.kit.filling import BOTS, EVENT, LADDERS, PLIES, fill, tell_truly
from benchmarks.kit.load import Load, all_in, arena_bot
from benchmarks.kit.plot import logarithmic
from benchmarks.kit.results import claim, measured_on, write_server
from benchmarks.kit.served import Running, arena, histogram, quantile
from benchmarks.kit.stores import NAMES
from benchmarks.kit.stores import database as empty_database

AT_ONCE = 6
ROUNDS = 40
"""In which six ask at once, for each question at the least."""
TRUE = 200
"""Matches that are told as they are, and are asked for: of the others a sample stands in the store, under the sample's id."""
PLAYERS = 40
PAUSE = 0.2
"""Seconds that a bot takes for a move: so they make a hundred a second together."""
PLOT = Path(__file__).with_name("size.svg")

Question = Callable[[random.Random], str]


@dataclass
class Asked:
    """Sizes, and what was measured on a store of each."""

    store: str
    count: int
    stats: Stats
    piece: float
    """Bytes of what is packed of a match, on the average."""
    start: float
    """Seconds from the start of the server until it answers."""
    recovery: float = 0.0
    """The same after a kill, with matches in progress."""
    milliseconds: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    """By question: p50 and p95 of all answers, and the slowest of the six that were first."""
    moves: tuple[float, float] | None = None
    """p99 of a move in ms, with nobody asking and with six asking."""


def questions(known: Sequence[tuple[str, str, str]]) -> dict[str, Question]:
    """What is asked, by what it is called. known: ids of matches, when each finished, and who Maxie was."""

    def bot(chance: random.Random) -> str:
        return quote(f"bot {chance.randrange(BOTS)}")

    def place(chance: random.Random) -> str:
        match, finished, _ = chance.choice(known)
        return quote(f"{finished}|{match}")

    return {
        "table": lambda _: "/api/table",
        "table of an event": lambda _: f"/api/table?event={EVENT}",
        "table of a ladder": lambda chance: (
            f"/api/table?event={quote(f'ladder {chance.randrange(1, LADDERS, 5)}')}"
        ),
        "event": lambda chance: f"/api/event?name={quote(f'ladder {chance.randrange(1, LADDERS, 5)}')}",
        "versus": lambda chance: f"/api/versus?bot={bot(chance)}&opponent={bot(chance)}",
        "search of two bots": lambda chance: f"/api/search?limit=50&bot={bot(chance)}&opponent={bot(chance)}",
        "search of a bot on another map": lambda chance: (
            f"/api/search?limit=50&bot={bot(chance)}&map=usa&result=lost&before={place(chance)}"
        ),
        "search of a map and a reason": lambda chance: (
            f"/api/search?limit=50&map=m2&result=elimination&before={place(chance)}"
        ),
        "search of an opening": lambda chance: f"/api/search?limit=50&like={chance.choice(known)[0]}",
        "search of a reason": lambda chance: (
            f"/api/search?limit=50&result=elimination&before={place(chance)}"
        ),
        "records of an event": lambda _: f"/api/records?limit=50&event={EVENT}",
        "bot": lambda chance: f"/api/bot/{bot(chance)}",
        "guest": lambda chance: f"/api/bot/{quote(chance.choice(known)[2])}",
        "records": lambda chance: f"/api/records?limit={chance.randrange(1, 51)}",
        "records before": lambda chance: f"/api/records?limit=50&before={place(chance)}",
        "records of a bot": lambda chance: f"/api/records?limit=50&bot={bot(chance)}&before={place(chance)}",
        "records of a game": lambda chance: f"/api/records?limit=50&game=tictactoe&before={place(chance)}",
        "record": lambda chance: f"/api/record/{chance.choice(known[:TRUE])[0]}",
        "log": lambda chance: f"/api/log/{chance.choice(known[:TRUE])[0][:16]}",
    }


async def get(url: str, path: str, credentials: str) -> float:
    """Seconds that one GET takes. Raises RuntimeError where it is not answered 200."""
    host, _, port = url.removeprefix("ws://").partition(":")
    began = time.perf_counter()
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        head = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Basic {credentials}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode())
        answer = await reader.read()
    finally:
        writer.close()
    if not answer.startswith(b"HTTP/1.1 200"):
        raise RuntimeError(f"{path} is answered {answer[:200]!r}")
    return time.perf_counter() - began


async def ask(url: str, question: Question, credentials: str, seconds: float) -> list[float]:
    """Milliseconds of each GET: six at once, and again as soon as their turns have had their rest, for so long at the least.

    There are at least ROUNDS of them, so that a p95 is that of many answers.
    """
    found: list[float] = []
    chance = random.Random(1)
    end = time.monotonic() + seconds
    while time.monotonic() < end or len(found) < ROUNDS * AT_ONCE:
        paths = [question(chance) for _ in range(AT_ONCE)]
        found += [
            1000 * each for each in await asyncio.gather(*(get(url, path, credentials) for path in paths))
        ]
        cost = max(cost_of(path.partition("?")[0]) or 0 for path in paths)
        await asyncio.sleep(cost / 1e6 * STORE_QUESTIONS / SHARE)
    return found


@contextmanager
def server(database: str) -> Iterator[tuple[Running, float]]:
    """`arena serve` on a store, and how many seconds it took until it listened."""
    limits = (
        "--set=limits.connections=10000",
        "--set=limits.connections_per_address=10000",
        "--set=limits.work_ms_per_second=1e9",
        "--set=limits.cut_offs=100000",
    )
    began = time.perf_counter()
    with arena(PLAYERS // 2, *limits, database=database) as running:
        yield running, time.perf_counter() - began


async def some_matches(engine: Engine, count: int) -> list[tuple[str, str, str]]:
    """Matches from all over the store: the id, when it finished, and who Maxie was."""
    numbers = random.Random(1).sample(range(1, count + 1), min(count, 2000))
    query = sa.select(matches.c.match, matches.c.finished, matches.c.maxie).where(
        matches.c.number.in_(numbers)
    )
    async with engine.connect() as connection:
        return [(row.match, row.finished, row.maxie) for row in (await connection.execute(query)).all()]


async def measure(store: str, database: str, count: int, seconds: float, *, moves: bool) -> Asked:
    """Fill a store and ask the server on it."""
    filling = make_engine(database, lasting=False)
    await prepare(filling)
    await fill(filling, count)
    await filling.dispose()
    async with open_store(database) as engine:
        measured = await stats(engine)
        known = await some_matches(engine, count)
        await tell_truly(engine, [match for match, _, _ in known[:TRUE]])
        async with engine.connect() as connection:
            length = sa.func.avg(sa.func.length(records.c.packed))
            piece = float((await connection.execute(sa.select(length))).scalar_one())
        token = await tokens.create(engine, "host", "admin")
    credentials = base64.b64encode(f"host:{token}".encode()).decode()
    with server(database) as (running, start):
        asked = Asked(store, count, measured, piece, start)
        everything = questions(known)
        for name, question in everything.items():
            times = await ask(running.url, question, credentials, seconds)
            cuts = statistics.quantiles(times, n=20)
            asked.milliseconds[name] = cuts[9], cuts[18], max(times[:AT_ONCE])
        if moves:
            asked.moves = await _beside(running.url, everything, credentials, seconds)
        load = Load()
        async with asyncio.TaskGroup() as tasks:
            jobs = [
                tasks.create_task(arena_bot(running.url, f"player {n}", load, PAUSE)) for n in range(PLAYERS)
            ]
            await all_in(load, PLAYERS)
            await asyncio.sleep(5)
            running.process.kill()
            running.process.wait()
            for job in jobs:
                job.cancel()
    with server(database) as (_, again):
        asked.recovery = again
    return asked


async def _beside(
    url: str, everything: Mapping[str, Question], credentials: str, seconds: float
) -> tuple[float, float]:
    """The p99 of moves in ms, first alone and then beside six who ask for everything in turn."""
    load, found = Load(), []
    async with asyncio.TaskGroup() as tasks:
        jobs = [tasks.create_task(arena_bot(url, f"mover {n}", load, PAUSE)) for n in range(PLAYERS)]
        await all_in(load, PLAYERS)
        await asyncio.sleep(3)
        for asking in (False, True):
            before = await asyncio.to_thread(histogram, url)
            if asking:
                for question in everything.values():
                    await ask(url, question, credentials, seconds)
            else:
                await asyncio.sleep(seconds * len(everything))
            after = await asyncio.to_thread(histogram, url)
            found.append(1000 * quantile({bound: after[bound] - before[bound] for bound in after}, 0.99))
        for job in jobs:
            job.cancel()
    return found[0], found[1]


def report(measured: Sequence[Asked], note: str) -> str:
    """The section."""
    sizes = sorted({each.count for each in measured})
    names = list(measured[0].milliseconds)
    lines = [
        "## Very many finished matches",
        "",
        (
            f"Stores of finished matches of {PLIES} plies with what bots think, played by {BOTS} bots and many guests in"
            f" {LADDERS // 5 + 1} events. Each question is asked by {AT_ONCE} at once, each time for another bot, match or place,"
            f" and again as soon as the server's rest after it is over, which keeps all answers to {SHARE:.0%} of its time;"
            f" p50 and p95 of at least {ROUNDS * AT_ONCE} answers in milliseconds, from the connection to the last byte, and the slowest of the"
            " first six, who come before anything has been read. The two that are always the same are"
            " answered from what the server keeps of them for a second or more. PostgreSQL has the settings that it is"
            " installed with."
        ),
        "",
        f"![p95 of each question by the number of matches]({PLOT.name})",
    ]
    for store in dict.fromkeys(each.store for each in measured):
        mine = [each for each in measured if each.store == store]
        lines += [
            "",
            f"**{store}**",
            "",
            _row(["", *(f"{each.count:,}" for each in mine)]),
            _row(["---"] * (len(mine) + 1)),
        ]
        lines += [_row([name, *(_cell(each.milliseconds[name]) for each in mine)]) for name in names]
        lines += [
            _row(["start, s", *(f"{each.start:.1f}" for each in mine)]),
            _row(
                [
                    "start after a kill, with matches in progress, s",
                    *(f"{each.recovery:.1f}" for each in mine),
                ]
            ),
            _row(["bytes packed of a match", *(f"{each.piece:,.0f}" for each in mine)]),
            _row(
                [
                    "bytes a match with rows and indices",
                    *(f"{each.stats.bytes_a_match:,.0f}" for each in mine),
                ]
            ),
            _row(["bytes of the store", *(f"{each.stats.bytes / 1e6:,.0f} MB" for each in mine)]),
        ]
        for each in mine:
            if each.moves is not None:
                alone, beside = each.moves
                lines += [
                    "",
                    f"Beside the questions, at {each.count:,} matches, p99 of a move is {beside:.1f} ms; alone {alone:.1f} ms.",
                ]
    largest = [each for each in measured if each.count == sizes[-1]]
    slowest = max(each.milliseconds[name][1] for each in largest for name in names)
    piece = max(each.piece for each in largest)
    whole = max(each.stats.bytes_a_match or 0 for each in largest)
    lines += [
        "",
        claim(
            f"{sizes[-1]:,} matches, six ask at once",
            "p95 of every question under 50 ms",
            f"{slowest:.0f} ms for the slowest",
        ),
        "",
        claim(
            "a match of 100 plies, compressed",
            "under 4 KB",
            f"{piece / 1000:.1f} KB; {whole / 1000:.1f} KB with its rows and all indices",
        ),
        "",
        note,
    ]
    return "\n".join(lines)


def _cell(times: tuple[float, float, float]) -> str:
    return " / ".join(f"{each:.1f}" for each in times)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def plot(measured: Sequence[Asked]) -> str:
    """The slowest of the two stores for each question, by the number of matches."""
    lines = {
        name: [
            (count, max(each.milliseconds[name][1] for each in measured if each.count == count))
            for count in sorted({each.count for each in measured})
        ]
        for name in measured[0].milliseconds
    }
    return logarithmic("p95 of each question, six at once", "finished matches", "ms", lines, mark=50)


def _run(least: int, most: int, stores: Sequence[str], seconds: float) -> Iterator[Asked]:
    sizes = [10**power for power in range(3, 10) if least <= 10**power <= most]
    for store in stores:
        for count in sizes:
            began = time.perf_counter()
            with empty_database(store) as database:
                found = asyncio.run(measure(NAMES[store], database, count, seconds, moves=count == sizes[-1]))
            print(f"{store}, {count:,} matches: {time.perf_counter() - began:.0f} s", flush=True)
            yield found


def main() -> None:
    """Measure, print, and write the section and its plot."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument("--least", type=int, default=1_000, help="matches of the smallest store")
    parser.add_argument("--most", type=int, default=1_000_000, help="matches of the largest store")
    parser.add_argument("--stores", default=",".join(NAMES))
    parser.add_argument("--seconds", type=float, default=5.0, help="for each question")
    parser.add_argument(
        "--raw",
        type=Path,
        help="append what is measured to this file, and tell of all that is in it, of each store and size what came last",
    )
    given = parser.parse_args()
    with measured_on("python -m benchmarks.size") as note:
        measured = []
        for each in _run(
            given.least, given.most, [name for name in given.stores.split(",") if name], given.seconds
        ):
            measured.append(each)
            if given.raw is not None:
                with given.raw.open("ab") as lines:
                    lines.write(msgspec.json.encode(each) + b"\n")
    if given.raw is not None:
        told = [msgspec.json.decode(line, type=Asked) for line in given.raw.read_bytes().splitlines()]
        last = {(list(NAMES.values()).index(each.store), each.count): each for each in told}
        measured = [each for _, each in sorted(last.items())]
    text = report(measured, note())
    print(text)
    write_server("size", text)
    PLOT.write_text(plot(measured), encoding="utf-8")


if __name__ == "__main__":
    main()
