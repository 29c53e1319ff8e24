"""`arena serve` with `server.processes`: several processes with a real PostgreSQL and a private NATS server."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from testkit.cluster_faults import let_matches_finish
from testkit.players import RandomPlayer
from testkit.server_kills import CrashTestResult, compare_messages_with_store
from testkit.tools import mark_requires
from tests.bots.command_line import environment
from tests.e2e.commands import Running, arena, running
from tests.processes.test_supervisor import is_alive
from tests.server.databases import Postgresql

pytestmark = pytest.mark.usefixtures("loaded_commands")

SERVE = (
    "serve",
    "--anyone",
    "--set=house.engines=none",
    "--game",
    "tictactoe",
    "--tc",
    "60+1",
    "--set=pool.pause_seconds=0",
)


@contextmanager
def run_cluster(folder: Path, database: str, *options: str) -> Iterator[tuple[Running, str]]:
    """Yield the parent process of a cluster, once its edges listen, and the URL for bots."""
    words = (*SERVE, "--port", "0", "--set=server.name=here", "--db", database, *options)
    with running(*words, folder=folder, env=environment()) as server:
        yield server, "ws" + server.wait_for(r"edges listen on ws(\S+)")


def find_two_free_ports() -> int:
    """Return the first of two successive free ports."""
    while True:
        with socket.create_server(("127.0.0.1", 0)) as first, socket.socket() as second:
            port: int = first.getsockname()[1]
            if second.connect_ex(("127.0.0.1", port + 1)) != 0:
                return port


def wait_for_core(port: int) -> None:
    """Wait until the edge with this metrics port has contact to a core."""
    end = time.monotonic() + 150
    while True:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=500) as answer:
            if b"\narena_core 1.0" in answer.read():
                return
        assert time.monotonic() < end
        time.sleep(0.05)


def list_cluster_processes(parent: int) -> list[int]:
    """Return the ids of the core and the edges of a cluster, which are children of supervisors under the parent process."""
    output = subprocess.run(
        ["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True
    ).stdout
    rows = [(int(a), int(b), c) for a, b, c in (line.split(None, 2) for line in output.splitlines())]
    supervisors = {pid for pid, above, _ in rows if above == parent}
    return [pid for pid, above, words in rows if above in supervisors and " serve " in words]


@mark_requires("nats")
@mark_requires("postgresql")
async def test_a_killed_process_is_started_again_and_matches_continue(
    postgresql_database: str, tmp_path: Path
) -> None:
    held = run_cluster(tmp_path, postgresql_database, "--set=server.processes=2", "--set=pool.concurrency=8")
    server, url = await asyncio.to_thread(held.__enter__)
    try:
        await asyncio.to_thread(server.wait_for, r"edge listens on (ws\S+)", 2)
        players = [RandomPlayer(url, f"bot {each}", lambda: random.uniform(0.01, 0.1)) for each in range(8)]
        async with asyncio.TaskGroup() as tasks:
            playing = [tasks.create_task(each.run()) for each in players]
            await wait_acknowledged(players, 40)
            first = await asyncio.to_thread(list_cluster_processes, server.process.pid)
            assert len(first) == 3
            for pid in random.sample(first, 2):  # one of them is an edge
                os.kill(pid, signal.SIGKILL)
            pattern = r"(?:edge \d|the core) ended with exit code 137; (restarting) it in"
            await asyncio.to_thread(server.wait_for, pattern, 2)
            for each in players:
                each.clear_received_messages()
            await wait_acknowledged(players, 40)
            for task in playing:
                task.cancel()
        await let_matches_finish(players, postgresql_database)
        server.process.terminate()
        assert await asyncio.to_thread(server.process.wait, 200) == 0, server.said
    finally:
        await asyncio.to_thread(held.__exit__, None, None, None)
    assert "Traceback" not in server.said
    outcome = CrashTestResult()
    await compare_messages_with_store(postgresql_database, players, set(), outcome)
    assert outcome.faults == []


@mark_requires("nats")
@mark_requires("postgresql")
def test_sighup_reaches_all_processes_and_they_end_with_their_parent(
    postgresql: Postgresql, tmp_path: Path
) -> None:
    file, own = tmp_path / "arena.toml", find_two_free_ports()
    file.write_text("[server]\nprocesses = 2\n")
    with (
        postgresql.database() as database,
        run_cluster(tmp_path, database, str(file), f"--set=server.metrics_port={own}") as (server, _),
    ):
        server.wait_for(r"edge listens on (ws\S+)", 2)
        server.wait_for(r"core \d+ (leads)")
        file.write_text("[server]\nprocesses = 3\ndrain_seconds = 1\n")
        server.process.send_signal(signal.SIGHUP)
        message = server.wait_for(r"settings reloaded: (.*)", 3)
        assert message == "applied server.drain_seconds; no restart is needed"
        for port in (own, own + 1):
            wait_for_core(port)
        children = list_cluster_processes(server.process.pid)
        server.process.kill()
        server.process.wait()
        end = time.monotonic() + 150
        while any(map(is_alive, children)):
            assert time.monotonic() < end
            time.sleep(0.02)


@mark_requires("nats")
def test_an_error_is_reported_once_and_ends_the_cluster(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    nowhere = f"postgresql://arena@127.0.0.1:{port}/arena"
    result = arena(*SERVE, "--set=server.processes=2", "--port", "0", "--db", nowhere, folder=tmp_path)
    assert result.code == 1
    assert result.stderr.startswith("arena: cannot use postgresql://arena@127.0.0.1:")
    assert result.stderr.count("\n") == 1


def test_a_port_in_use_is_reported(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        words = ("--set=server.processes=2", "--db", "postgresql://arena@127.0.0.1/arena", "--port", port)
        result = arena(*SERVE, *words, folder=tmp_path)
    assert result.code == 1
    assert result.stderr == (
        f"arena: cannot listen on 127.0.0.1:{port}: the port is in use; choose another, or 0 for any free one\n"
    )


async def wait_acknowledged(players: list[RandomPlayer], count: int) -> None:
    """Wait until the server has acknowledged `count` moves."""
    async with asyncio.timeout(200):
        while sum(len(each.acknowledged_moves) for each in players) < count:
            await asyncio.sleep(0.02)
