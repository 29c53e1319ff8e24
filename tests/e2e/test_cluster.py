"""Three `arena serve` that are one arena: servers that die, are cut off and are restarted, and nobody loses anything."""

from __future__ import annotations

import asyncio
import json
import random
import signal
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import pytest

from arena.protocol.record import Record
from arena.server.store.database import open_store
from arena.server.store.journal.reader import records_of
from testkit.arena_servers import ArenaServer, arena_servers
from testkit.crash import Outcome, hold_against
from testkit.deaths import AWAY_SECONDS, KINDS, how_it_dies, play_out, players_of, rounds
from testkit.nats_server import NatsServer, running_nats
from testkit.node import with_packages
from testkit.parts import missing, program, requires
from testkit.players import Player
from tests.e2e.trail import trails
from tests.server.databases import Postgresql

ROOT = Path(__file__).parents[2]
OPTIONS = (
    "--game",
    "tictactoe",
    "--tc",
    "60+1",
    "--set=pool.pause_seconds=0",
    "--set=pool.openings=none",
    "--set=pool.concurrency=8",
)
DRAIN = "drain"
pytestmark = [
    pytest.mark.timeout(280),
    pytest.mark.usefixtures("loaded_commands"),
    requires("nats"),
    requires("postgresql"),
]


@pytest.fixture(scope="module")
def nats() -> Iterator[NatsServer]:
    with running_nats() as server:
        yield server


@asynccontextmanager
async def three(
    folder: Path, nats: NatsServer, postgresql: Postgresql, url: str, *options: str
) -> AsyncIterator[list[ArenaServer]]:
    database = urlsplit(url).path[1:]
    told = *OPTIONS, "--set=log.verbose=true", *options
    async with arena_servers(3, folder, nats, postgresql.folder, database, *told) as servers:
        yield servers


@pytest.mark.parametrize(
    ("kinds", "count"),
    [
        (("kill",), 1),
        pytest.param(("freeze",), 1, marks=pytest.mark.soak),
        pytest.param(("split",), 1, marks=pytest.mark.soak),
        pytest.param(("kill", "freeze", "bus", "store", "power", "split"), 12, marks=pytest.mark.soak),
    ],
    ids=["kill", "freeze", "split", "all"],
)
async def test_deaths_under_play_cost_nobody_anything(
    kinds: Sequence[str],
    count: int,
    nats: NatsServer,
    postgresql: Postgresql,
    postgresql_database: str,
    tmp_path: Path,
) -> None:
    async with three(tmp_path, nats, postgresql, postgresql_database) as servers:
        players = players_of(servers, 12, lambda: random.uniform(0.02, 0.4))
        dice = random.Random(7)
        report = await rounds(servers, players, postgresql_database, dice, count, kinds=kinds)
    faults = report.outcome.faults
    assert faults == [], await trails(postgresql_database, faults, [each.log for each in servers])
    assert all(each.taken is not None for each in report.deaths)
    assert report.outcome.acknowledged > 50


@pytest.mark.parametrize(
    "matches", [6, pytest.param(100, marks=[pytest.mark.soak, pytest.mark.timeout(900)])]
)
async def test_servers_restarted_one_after_the_other_lose_nothing(
    matches: int, nats: NatsServer, postgresql: Postgresql, postgresql_database: str, tmp_path: Path
) -> None:
    # Beside other tests so many bots, which are one process, take more than half a minute to come back.
    at_once = f"--set=pool.concurrency={matches}", f"--set=pool.ready_seconds={30 + matches}"
    async with three(tmp_path, nats, postgresql, postgresql_database, *at_once) as servers:
        slowest = matches / 15  # so many moves a second keep no server from its leases
        between = max(60, 3 * matches)
        # Each server says that it stops, so nobody need find it out.
        players = players_of(servers, 2 * matches, lambda: random.uniform(0.02, slowest), keepalive=20.0)
        async with asyncio.TaskGroup() as tasks:
            playing = [tasks.create_task(each.run()) for each in players]
            for each in servers:
                await acknowledged(players, between)
                assert await each.stop() == 0, each.log.read_text()
                each.start()
                await each.wait_ready()
            await acknowledged(players, between)
            for task in playing:
                task.cancel()
        await ended(players, postgresql_database)
        logs = "".join(each.log.read_text() for each in servers)
    assert "Traceback" not in logs
    outcome = Outcome()
    await hold_against(postgresql_database, players, set(), outcome)
    faults = outcome.faults
    assert faults == [], await trails(postgresql_database, faults, [each.log for each in servers])


async def acknowledged(players: Sequence[Player], more: int) -> None:
    """Wait until so many moves more were acknowledged."""
    goal = sum(len(each.acknowledged) for each in players) + more
    async with asyncio.timeout(60 + more):
        while sum(len(each.acknowledged) for each in players) < goal:
            await asyncio.sleep(0.02)


async def ended(players: Sequence[Player], url: str) -> None:
    """Wait until no match is in progress any more."""
    connection = await asyncpg.connect(url)
    try:
        await play_out(players, connection)
    finally:
        await connection.close()


@contextmanager
def entrance(folder: Path, servers: Sequence[ArenaServer]) -> Iterator[str]:
    """The nginx of the profile `cluster` on a free port of this machine, before these servers; where bots come in."""
    found = program("nginx")
    assert found is not None
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    config = (ROOT / "docker" / "nginx.conf").read_text(encoding="utf-8")
    names = {
        f"server {name}:8765;": f"server 127.0.0.1:{each.port};"
        for name, each in zip(("one", "two", "three"), servers, strict=True)
    }
    changes = {
        **names,
        "listen 8080;": f"listen 127.0.0.1:{port};",
        "pid /tmp/": f"pid {folder}/",
        "error_log /dev/stderr": f"error_log {folder}/nginx.log",
    }
    for old, new in changes.items():
        assert config.count(old) == 1, old
        config = config.replace(old, new)
    config = config.replace("_path /tmp/", f"_path {folder}/nginx-")
    file = folder / "nginx.conf"
    file.write_text("daemon off;\n" + config.replace("worker_processes auto", "worker_processes 1"))
    words = [found, "-p", str(folder), "-c", str(file), "-e", str(folder / "nginx.log")]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 30
        while True:
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None, (folder / "nginx.log").read_text()
            assert time.monotonic() < end
            time.sleep(0.05)
        yield f"ws://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


class Newcomer:
    """The client for node of the test kit, as a process, and what it was told."""

    def __init__(self, script: Path, url: str, name: str) -> None:
        self.output = script.parent / f"{name}.jsonl"
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                ["node", str(script), url, name, "200"], stdin=subprocess.PIPE, stdout=output
            )

    def told(self) -> list[dict[str, Any]]:
        """What it has printed so far."""
        return [json.loads(line) for line in self.output.read_text().splitlines() if line.endswith("}")]

    def count(self, kind: str) -> int:
        return sum(each["type"] == kind for each in self.told())

    def finish(self) -> int:
        """Let it end its matches and leave."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(90)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.wait()


@requires("nginx")
@pytest.mark.parametrize(
    "ways", [("kill", DRAIN), pytest.param((*KINDS, DRAIN), marks=pytest.mark.soak)], ids=["two", "all"]
)
async def test_a_client_in_another_language_plays_on_and_never_learns_of_it(
    ways: Sequence[str], nats: NatsServer, postgresql: Postgresql, postgresql_database: str, tmp_path: Path
) -> None:
    """It knows one address, behind which one server after the other is drained, dies or is cut off."""
    if why := missing("node"):
        pytest.skip(why)
    (tmp_path / "js").mkdir()
    script = await asyncio.to_thread(with_packages, Path(__file__).with_name("newcomer.js"), tmp_path / "js")
    clients: list[Newcomer] = []
    async with three(
        tmp_path, nats, postgresql, postgresql_database, "--set=server.proxies=127.0.0.1"
    ) as servers:
        held = entrance(tmp_path, servers)
        url = await asyncio.to_thread(held.__enter__)
        try:
            clients = [Newcomer(script, url, f"newcomer {each}") for each in range(4)]
            for number, way in enumerate(ways):
                await moved(clients, 20)
                await leaves(servers[number % len(servers)], way, clients)
            await moved(clients, 20)
            codes = [await asyncio.to_thread(each.finish) for each in clients]
            await ended([], postgresql_database)  # the last record is written after its end is told
        finally:
            for each in clients:
                each.close()
            await asyncio.to_thread(held.__exit__, None, None, None)
    assert codes == [0] * len(clients)
    async with open_store(postgresql_database) as engine:
        records = {each.match: each for each in await records_of(engine, "serve")}
    for each in clients:
        compare(each.told(), records)
    wrong = [
        match for match, each in records.items() if each.result.reason.value not in ("line", "board_full")
    ]
    files = [*(each.log for each in servers), *(each.output for each in clients)]
    assert wrong == [], await trails(postgresql_database, wrong, files)
    assert sum(each.count("closed") for each in clients) >= 2, "some were thrown out"


async def leaves(server: ArenaServer, way: str, clients: Sequence[Newcomer]) -> None:
    """A server is drained or dies, the others go on, and then it is back."""
    if way == DRAIN:
        assert await server.stop() == 0
        await moved(clients, 20)
        server.start()
    else:
        begin, end = how_it_dies(server, way)
        await asyncio.to_thread(begin)
        if way in ("kill", "power"):
            await moved(clients, 20)
        else:
            await asyncio.sleep(AWAY_SECONDS[0])
        await end()
    await server.wait_ready()


async def moved(clients: Sequence[Newcomer], more: int) -> None:
    """Wait until each has made so many moves more."""
    goals = [each.count("accepted") + more for each in clients]
    async with asyncio.timeout(90):
        while any(each.count("accepted") < goal for each, goal in zip(clients, goals, strict=True)):
            await asyncio.sleep(0.1)


def compare(told: Sequence[dict[str, Any]], records: dict[str, Record]) -> None:
    """What a client was told is what the records say, and nothing told it of a fault."""
    for each in told:
        match each:
            case {"type": "accepted", "match": match, "ply": ply, "move": move}:
                assert records[match].moves[ply].move == move
            case {"type": "end", "match": match, "winner": winner, "reason": reason}:
                result = records[match].result
                assert (result.winner, result.reason.value) == (winner, reason)
            case {"type": "start", "match": match}:
                assert match in records
            case {"type": "error"}:
                assert each["code"] in ("shutting_down", "no_such_match", "stale_ply"), each
