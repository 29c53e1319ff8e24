"""Edges and cores of `arena serve`: whatever dies, is cut off or is restarted, nobody loses anything."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from arena.protocol.record import Record
from arena.server.store.database import open_store
from testkit.cluster import Cluster, run_cluster
from testkit.cluster_faults import (
    FAULT_KINDS,
    FaultInjector,
    inject_faults,
    let_matches_finish,
    list_matches_in_progress,
    make_cluster_players,
    stop_cluster_and_check_logs,
)
from testkit.nats_server import NatsServer, run_nats
from testkit.node_packages import copy_program_with_node_packages
from testkit.players import RandomPlayer
from testkit.server_kills import CrashTestResult, compare_messages_with_store
from testkit.server_process import ServerProcess
from testkit.stored_records import load_event_records
from tests.e2e.nginx import free_ports, running_nginx, substitute
from tests.e2e.trail import trails
from tests.server.databases import Postgresql

ROOT = Path(__file__).parents[2]
POOL = ("--set=pool.pause_seconds=0", "--set=pool.concurrency=100", "--set=log.verbose=true")
TICTACTOE = ("--game", "tictactoe", "--tc", "60+1", "--set=pool.openings=none", *POOL)
ITALY = ("--game", "riskless", "--map", "italy", "--tc", "60+1", *POOL)
pytestmark = [
    pytest.mark.usefixtures("loaded_commands"),
    pytest.mark.needs("nats"),
    pytest.mark.needs("postgresql"),
]


@pytest.fixture
def nats() -> Iterator[NatsServer]:
    with run_nats() as server:
        yield server


@asynccontextmanager
async def cluster(
    folder: Path, nats: NatsServer, postgresql: Postgresql, url: str, *words: str, edges: int = 2
) -> AsyncIterator[Cluster]:
    database = urlsplit(url).path[1:]
    async with run_cluster(edges, 2, folder, nats, postgresql.folder, database, *words) as made:
        yield made


async def test_deaths_under_play_cost_nobody_anything(
    nats: NatsServer, postgresql: Postgresql, postgresql_database: str, tmp_path: Path
) -> None:
    dice = random.Random(7)
    async with cluster(tmp_path, nats, postgresql, postgresql_database, *ITALY) as made:
        players = make_cluster_players(made.edges, 12, lambda: random.uniform(0.05, 0.8))
        deaths = FaultInjector(made, nats, lambda: postgresql.processes, dice)
        report = await inject_faults(deaths, players, dice.sample(FAULT_KINDS, len(FAULT_KINDS)))
    faults = report.crash_test_result.faults
    assert faults == [], await trails(postgresql_database, faults, made.list_log_files())
    assert [each for each in report.injected_faults if each.stuck_match_count] == []
    assert report.crash_test_result.acknowledged_move_count > 50


async def test_everything_is_restarted_under_play_and_no_bot_comes_in_more_than_once_more(
    nats: NatsServer, postgresql: Postgresql, postgresql_database: str, tmp_path: Path
) -> None:
    async with cluster(tmp_path, nats, postgresql, postgresql_database, *ITALY) as made:
        old = made.edges
        new = [await made.add_server("edge") for _ in old]
        for each in new:
            await each.wait_until_ready()
        players = [
            RandomPlayer(
                old[number % 2].url,
                f"bot {number}",
                lambda: random.uniform(0.02, 0.3),
                fallback_urls=(new[number % 2].url,),
                keepalive_seconds=150,
            )
            for number in range(12)
        ]
        async with asyncio.TaskGroup() as tasks:
            playing = [tasks.create_task(each.run()) for each in players]
            for each in made.cores:
                await acknowledged(players, 40)
                assert await each.stop() == 0, each.log_file.read_text()
                each.start()
                await each.wait_until_ready()
            for number, player in enumerate(players):
                assert player.welcome_count <= 1 + count_cut_offs(old[number % 2], new[number % 2]), (
                    "nobody notices that another core leads"
                )
            for each in old:
                await acknowledged(players, 40)
                assert await each.stop() == 0, each.log_file.read_text()
                made.members.remove(each)
                each.close()
            await acknowledged(players, 40)
            async with asyncio.timeout(150):
                while min(each.welcome_count for each in players) < 2:
                    await asyncio.sleep(0.02)
            for task in playing:
                task.cancel()
        for number, player in enumerate(players):
            assert player.welcome_count <= 2 + count_cut_offs(old[number % 2], new[number % 2])
        outcome = CrashTestResult()
        await let_matches_finish(players, made.database_url)
        await stop_cluster_and_check_logs(made, outcome)
    await compare_messages_with_store(postgresql_database, players, set(), outcome)
    assert outcome.faults == [], await trails(postgresql_database, outcome.faults, made.list_log_files())


def count_cut_offs(*edges: ServerProcess) -> int:
    """Return how often these edges have disconnected their clients because no core answered in time, as on a busy machine."""
    return sum(each.log_file.read_text().count(": disconnecting its clients") for each in edges)


async def acknowledged(players: Sequence[RandomPlayer], more: int) -> None:
    """Wait until so many moves more were acknowledged."""
    goal = sum(len(each.acknowledged_moves) for each in players) + more
    async with asyncio.timeout(150 + more):
        while sum(len(each.acknowledged_moves) for each in players) < goal:
            await asyncio.sleep(0.02)


@contextmanager
def entrance(folder: Path, edges: Sequence[ServerProcess]) -> Iterator[str]:
    """Yield the nginx of the profile `cluster` on a free port of this machine, before these edges; where bots come in."""
    (port,) = free_ports(1)
    names = {
        f"server {name}:8765 ": f"server 127.0.0.1:{each.port} "
        for name, each in zip(("edge-1", "edge-2"), edges, strict=True)
    }
    changes = {
        **names,
        "listen 8080;": f"listen 127.0.0.1:{port};",
        "pid /tmp/": f"pid {folder}/",
        "error_log /dev/stderr": f"error_log {folder}/nginx.log",
        "worker_processes auto": "worker_processes 1",
    }
    config = substitute((ROOT / "docker" / "nginx.conf").read_text(encoding="utf-8"), changes)
    with running_nginx(folder, config.replace("_path /tmp/", f"_path {folder}/nginx-"), port):
        yield f"ws://127.0.0.1:{port}"


class Newcomer:
    """The client for node of the test kit, as a process, and what it was told."""

    def __init__(self, script: Path, url: str, name: str) -> None:
        self.output = script.parent / f"{name}.jsonl"
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                ["node", str(script), url, name, "200"], stdin=subprocess.PIPE, stdout=output
            )

    def told(self) -> list[dict[str, Any]]:
        """Return its output so far."""
        return [json.loads(line) for line in self.output.read_text().splitlines() if line.endswith("}")]

    def count(self, kind: str) -> int:
        return sum(each["type"] == kind for each in self.told())

    def finish(self) -> int:
        """Let it end its matches and leave."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(500)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.wait()


@pytest.mark.needs("nginx")
@pytest.mark.needs("node")
async def test_a_client_in_another_language_plays_on_and_never_learns_of_it(
    nats: NatsServer, postgresql: Postgresql, postgresql_database: str, tmp_path: Path
) -> None:
    """The client has one address, behind which one edge is stopped, another one dies, and the core dies."""
    (tmp_path / "js").mkdir()
    script = await asyncio.to_thread(
        copy_program_with_node_packages, Path(__file__).with_name("newcomer.js"), tmp_path / "js"
    )
    clients: list[Newcomer] = []
    words = (*TICTACTOE, "--set=server.proxies=127.0.0.1")
    async with cluster(tmp_path, nats, postgresql, postgresql_database, *words) as made:
        held = entrance(tmp_path, made.edges)
        url = await asyncio.to_thread(held.__enter__)
        try:
            clients = [Newcomer(script, url, f"newcomer {each}") for each in range(4)]
            first, second = made.edges
            await wait_for_moves(clients, 20)
            assert await first.stop() == 0
            await wait_for_moves(clients, 20)
            first.start()
            await first.wait_until_ready()
            leader = await made.wait_for_leader()
            for dead in (leader, second):
                await asyncio.to_thread(dead.kill)
                await wait_for_moves(clients, 20)
                dead.start()
                await dead.wait_until_ready()
            await wait_for_moves(clients, 20)
            codes = [await asyncio.to_thread(each.finish) for each in clients]
            async with asyncio.timeout(500):
                while await list_matches_in_progress(
                    made.database_url
                ):  # the last record is written before its end is told
                    await asyncio.sleep(0.1)
        finally:
            for each in clients:
                each.close()
            await asyncio.to_thread(held.__exit__, None, None, None)
    assert codes == [0] * len(clients)
    async with open_store(postgresql_database) as engine:
        records = {each.match: each for each in await load_event_records(engine, "serve")}
    for each in clients:
        compare(each.told(), records)
    wrong = [
        match for match, each in records.items() if each.result.reason.value not in ("line", "board_full")
    ]
    files = [*made.list_log_files(), *(each.output for each in clients)]
    assert wrong == [], await trails(postgresql_database, wrong, files)
    assert sum(each.count("closed") for each in clients) >= 2, "some were thrown out"


async def wait_for_moves(clients: Sequence[Newcomer], more: int) -> None:
    """Wait until each has made so many moves more."""
    goals = [each.count("accepted") + more for each in clients]
    async with asyncio.timeout(300):
        while any(each.count("accepted") < goal for each, goal in zip(clients, goals, strict=True)):
            await asyncio.sleep(0.1)


def compare(told: Sequence[dict[str, Any]], records: dict[str, Record]) -> None:
    """Check that a client's messages agree with the records and report no fault."""
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
