"""Deaths of the servers of an arena under play, one after the other, and what they cost: nobody may lose anything.

kill    the process ends without a word
freeze  it stands still for longer than its lease, and then goes on
bus     it is cut off from NATS for a while
store   it is cut off from PostgreSQL for a while
power   it ends, and neither PostgreSQL nor NATS is told
split   it is cut off from both for a while, and its bots still reach it
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import asyncpg

from testkit.arena_servers import ArenaServer
from testkit.crash import Outcome, hold_against
from testkit.players import Player

KINDS = ("kill", "freeze", "bus", "store", "power", "split")
POLL_SECONDS = 0.02
TAKEN_SECONDS = 30.0
"""How long a take-over may take before it counts as none."""
AWAY_SECONDS = (4.5, 7.0)
"""How long what comes back by itself is away, within these."""
IN_PLAY_SECONDS = 60.0
SETTLE_SECONDS = 120.0

MATCHES_OF = "SELECT match FROM matches WHERE server = $1 AND finished IS NULL"
STILL_THERE = "SELECT count(*) FROM matches WHERE server = $1 AND finished IS NULL AND match = ANY($2)"


@dataclass
class Death:
    """One of them."""

    kind: str
    server: str
    matches: int
    """In progress there at that moment."""
    taken: float | None
    """Seconds until others had all of them, or they were over; None where that took too long."""
    played_on: list[float] = field(default_factory=list)
    """Seconds for each of them until one of its bots was told something of it again, in the bots' own experience."""


@dataclass
class Report:
    """What came of all of them."""

    deaths: list[Death] = field(default_factory=list)
    outcome: Outcome = field(default_factory=Outcome)
    shared: int = 0
    """Matches between bots that came in by different servers, as far as the bots were told at the deaths."""


def players_of(
    servers: Sequence[ArenaServer], count: int, think: Callable[[], float], keepalive: float = 2.0
) -> list[Player]:
    """So many bots, which begin at the servers in turn and look for another one when theirs is away.

    keepalive: seconds after which they ask a server that says nothing, and for which they wait for an answer
    """
    urls = [each.url for each in servers]
    made = []
    for number in range(count):
        first = number % len(urls)
        others = (*urls[first + 1 :], *urls[:first])
        made.append(Player(urls[first], f"bot {number}", think, elsewhere=others, keepalive=keepalive))
    return made


async def rounds(
    servers: Sequence[ArenaServer],
    players: Sequence[Player],
    store: str,
    dice: random.Random,
    count: int,
    *,
    kinds: Sequence[str] = KINDS,
    tell: Callable[[str], None] = lambda _: None,
    longest: float = math.inf,
) -> Report:
    """So many deaths while the bots play, and at the end all is held against the store.

    store: the URL of the servers' database, past their lines
    longest: after so many seconds no other death begins
    """
    report = Report()
    last = time.monotonic() + longest
    connection = await asyncpg.connect(store)
    try:
        async with asyncio.TaskGroup() as tasks:
            playing = [tasks.create_task(each.run()) for each in players]
            for number in range(count):
                if time.monotonic() > last:
                    break
                await _in_play(players, report, servers)
                await asyncio.sleep(dice.uniform(0.0, 2.0))
                kind = dice.choice(list(kinds))
                (server,) = dice.choices(
                    list(servers), [1 + await _matches_at(connection, each) for each in servers]
                )
                death = await _die(server, kind, players, connection, dice)
                report.deaths.append(death)
                taken = "NOT TAKEN OVER" if death.taken is None else f"taken over in {death.taken:.2f} s"
                slowest = max(death.played_on, default=0.0)
                tell(
                    f"{number + 1}: {kind} of {server.name} with {death.matches} matches, {taken}; "
                    f"all told on within {slowest:.1f} s"
                )
            await _in_play(players, report, servers)
            for each in playing:
                each.cancel()
        await play_out(players, connection)
        await _end(servers, report)
    finally:
        await connection.close()
    await hold_against(store, list(players), set(), report.outcome)
    return report


async def _matches_at(connection: asyncpg.Connection, server: ArenaServer) -> int:
    """How many are in progress there: a server that has just come back has few, and its death would show little."""
    return len(await connection.fetch(MATCHES_OF, server.name))


async def _die(
    server: ArenaServer,
    kind: str,
    players: Sequence[Player],
    connection: asyncpg.Connection,
    dice: random.Random,
) -> Death:
    away = dice.uniform(*AWAY_SECONDS)
    begin, end = how_it_dies(server, kind)
    # Before the death, as it takes a moment to ask: those that end meanwhile are over.
    theirs = [row["match"] for row in await connection.fetch(MATCHES_OF, server.name)]
    died = time.monotonic()
    await asyncio.to_thread(begin)
    taken = await _taken(connection, server.name, theirs)
    death = Death(kind, server.name, len(theirs), None if taken is None else taken - died)
    death.played_on = await _played_on(players, theirs, died)
    if kind not in ("kill", "power"):
        await asyncio.sleep(max(0.0, away - (time.monotonic() - died)))
    await end()
    await server.wait_ready()
    return death


def how_it_dies(server: ArenaServer, kind: str) -> tuple[Callable[[], object], Callable[[], Awaitable[None]]]:
    """What makes it die, which takes a moment in a thread of its own, and what brings it back."""

    def started_again() -> None:
        server.mend()
        server.start()

    how: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "kill": (server.kill, started_again),
        "power": (server.lose_power, started_again),
        "freeze": (server.freeze, server.thaw),
        "bus": (lambda: server.bus.order("cut"), lambda: server.bus.order("mend")),
        "store": (lambda: server.store.order("cut"), lambda: server.store.order("mend")),
        "split": (server.cut, server.mend),
    }
    begin, end = how[kind]

    async def back() -> None:
        await asyncio.to_thread(end)

    return begin, back


async def _taken(connection: asyncpg.Connection, server: str, theirs: list[str]) -> float | None:
    """When none of these matches was with the server any more."""
    end = time.monotonic() + TAKEN_SECONDS
    while time.monotonic() < end:
        if not await connection.fetchval(STILL_THERE, server, theirs):
            return time.monotonic()
        await asyncio.sleep(POLL_SECONDS)
    return None


async def _played_on(players: Sequence[Player], theirs: list[str], died: float) -> list[float]:
    """For each of these matches, how long it took until one of its bots heard of it again; at most as long as that lasts."""
    seconds: dict[str, float] = {}
    end = time.monotonic() + TAKEN_SECONDS
    while len(seconds) < len(theirs) and time.monotonic() < end:
        for match in theirs:
            if match in seconds:
                continue
            told = [each.turns[match] for each in players if match in each.turns]
            over = any(match in each.ends for each in players)
            if over or (told and max(told) > died + POLL_SECONDS):
                seconds[match] = max(told, default=time.monotonic()) - died
        await asyncio.sleep(POLL_SECONDS)
    return list(seconds.values())


async def _in_play(players: Sequence[Player], report: Report, servers: Sequence[ArenaServer]) -> None:
    """Wait until most bots play; all of them need not, so that deaths also meet bots on their way."""
    end = time.monotonic() + IN_PLAY_SECONDS
    while sum(bool(each.turns) for each in players) < len(players) * 8 // 10:
        if time.monotonic() > end:
            report.outcome.faults.append(
                f"{sum(bool(each.turns) for each in players)} of {len(players)} bots play:\n"
                + "\n".join(each.log.read_text()[-1000:] for each in servers)
            )
            return
        await asyncio.sleep(POLL_SECONDS)


async def play_out(players: Sequence[Player], connection: asyncpg.Connection) -> None:
    """Let the matches in progress end: nobody looks for more of them, and whoever plays plays on."""
    async with asyncio.TaskGroup() as tasks:
        last = [tasks.create_task(each.run(quota=0)) for each in players]
        end = time.monotonic() + SETTLE_SECONDS
        while await connection.fetchval("SELECT count(*) FROM matches WHERE finished IS NULL"):
            if time.monotonic() > end:
                break
            await asyncio.sleep(0.2)
        # An end is told to its players after it is in the store.
        await asyncio.sleep(2.0)
        for each in last:
            each.cancel()


async def _end(servers: Sequence[ArenaServer], report: Report) -> None:
    for server in servers:
        code = await server.stop()
        if code != 0:
            report.outcome.faults.append(f"{server.name} ended with {code}: {server.log.read_text()[-2000:]}")
        if "Traceback" in server.log.read_text():
            report.outcome.faults.append(f"{server.name} failed:\n{_traceback(server)}")


def _traceback(server: ArenaServer) -> str:
    text = server.log.read_text()
    return text[max(0, text.index("Traceback") - 500) :][:3000]
