"""A ladder over a real Dask cluster on this machine: a scheduler and workers, each a process."""

from __future__ import annotations

import importlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO
from uuid import uuid4

import anyio
import msgspec
import pytest
from anyio.from_thread import start_blocking_portal

from arena.ladder.bot_pool import BotNotStarted
from arena.ladder.dask_runner import (
    DaskClusterUnavailable,
    DaskRunner,
    open_dask_client,
    parse_worker_record,
    start_next_pair,
)
from arena.ladder.event_openings import RandomOpenings
from arena.ladder.event_terms import EventTerms
from arena.ladder.ladder import Ladder
from arena.ladder.ladder_run import run_ladder
from arena.ladder.plan import BotPlan, LadderPlan, make_engine_bot_plan
from arena.match.replay import verify_record
from arena.protocol import record as records
from arena.protocol.codes import EndReason
from arena.protocol.record import BadRecord, Record, format_record_line
from arena.protocol.timecontrol import TimeControl, TimeOdds
from arena.rating.formats import make_format
from arena.rating.schedule import Schedule
from arena.rating.standings import make_standings
from arena.server.host import ArenaServer
from arena.server.store.packing import unpack_record
from testkit.tools import skip_without
from tests.ladder.test_ladder_run import full_disk_after
from tests.server.fleets import QUICK, ROOT, all_gone, bot, processes_of
from tests.server.matches import game_of, record, spec

skip_without("distributed")

DASK_START_TIMEOUT_SECONDS = 200

FIRST_LEGAL = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        print('{"ready": true}', flush=True)
    elif message["type"] == "turn":
        with open("clocks", "a") as file:
            print(message["mine_ms"], file=file)
        print(json.dumps({"move": message["legal"][0]}), flush=True)
"""
"""Program that speaks JSON Lines, plays the first legal move, and writes the time left at each turn to `clocks`."""


@pytest.fixture(scope="module", autouse=True)
def _import_distributed() -> None:
    """Import `distributed` before the tests: the import blocks the event loop for a second or more."""
    importlib.import_module("distributed")


@pytest.fixture(autouse=True)
def _wait_longer_for_the_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait longer for the scheduler's answer, because the machine may be busy."""
    monkeypatch.setattr("arena.ladder.ladder_run.SCHEDULER_TIMEOUT_SECONDS", 150)


@dataclass
class Cluster:
    """Dask cluster on this machine: a scheduler and its workers."""

    address: str
    folder: Path
    logs: ExitStack
    scheduler: subprocess.Popen[bytes]
    started: list[subprocess.Popen[bytes]]
    """All processes of the cluster, including the scheduler."""
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def add_worker(self, threads: int = 1) -> subprocess.Popen[bytes]:
        """Start a worker, which registers with the scheduler once it runs."""
        log = self.logs.enter_context((self.folder / f"worker{len(self.workers)}.log").open("wb"))
        worker = start_process(
            self.started,
            *("worker", self.address, "--nthreads", str(threads), "--no-nanny", "--no-dashboard"),
            *("--local-directory", str(self.folder)),
            log=log,
        )
        self.workers.append(worker)
        return worker


def start_process(
    processes: list[subprocess.Popen[bytes]], *words: str, log: IO[bytes]
) -> subprocess.Popen[bytes]:
    module = f"distributed.cli.dask_{words[0]}"
    process: subprocess.Popen[bytes] = subprocess.Popen(
        [sys.executable, "-P", "-W", "ignore", "-m", module, *words[1:]],
        stdout=log,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    processes.append(process)
    return process


@asynccontextmanager
async def cluster(folder: Path, workers: int, threads: int = 1) -> AsyncIterator[Cluster]:
    """Yield a new cluster, and end all its processes at the end of the `with` block."""
    file = folder / "scheduler.json"
    made: list[subprocess.Popen[bytes]] = []
    with ExitStack() as logs:
        try:
            log = logs.enter_context((folder / "scheduler.log").open("wb"))
            where = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file))
            scheduler = start_process(made, "scheduler", *where, log=log)
            with anyio.fail_after(DASK_START_TIMEOUT_SECONDS):
                while not file.exists() or not file.stat().st_size:
                    assert scheduler.poll() is None, (folder / "scheduler.log").read_text()
                    await anyio.sleep(0.05)
            running = Cluster(
                msgspec.json.decode(file.read_bytes())["address"], folder, logs, scheduler, made
            )
            for _ in range(workers):
                running.add_worker(threads)
            yield running
        except BaseException as error:
            for path in sorted(folder.glob("*.log")):
                error.add_note(f"{path.name}: {path.read_text()}")
            raise
        finally:
            with anyio.CancelScope(shield=True):
                for process in made:
                    process.kill()
                for process in made:
                    await exit_status(process)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Yield a cluster of one worker with three threads, shared by the tests that do not change it: a start takes seconds."""
    made = cluster(tmp_path_factory.mktemp("cluster"), workers=1, threads=3)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(made) as running:
        yield running


async def exit_status(process: subprocess.Popen[bytes]) -> int:
    """Wait until a process has ended, and return its exit status."""
    while (status := process.poll()) is None:
        await anyio.sleep(0.01)
    return status


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a word that is in the environment of every process that the test starts, directly or indirectly."""
    word = f"arena-cluster-{time.monotonic_ns()}"
    monkeypatch.setenv("ARENA_TEST_MARK", word)
    return word


@dataclass
class RecordingObserver:
    """Observer that keeps the notices, and reports the first match."""

    notices: list[str] = field(default_factory=list)
    first: anyio.Event = field(default_factory=anyio.Event)

    def show_address(self, ladder: Ladder, url: str) -> None:
        pass

    def show_match(self, ladder: Ladder, record: Record) -> None:
        self.first.set()

    def show_notice(self, text: str) -> None:
        self.notices.append(text)


def ladder(record: Path, *bots: BotPlan, rounds: int = 2, folder: Path = ROOT) -> Ladder:
    starts = [game_of()]
    plan = LadderPlan(
        bots,
        event_name="test",
        game="tictactoe",
        time_control=TimeControl(120_000),
        rounds=rounds,
        openings=2,
        bot_folder=folder,
    )
    return Ladder(plan, starts, record, openings=RandomOpenings(starts, 2, 1), restart_policy=QUICK)


def matches_by_place(played: Ladder) -> dict[tuple[int, int], object]:
    """Return the players, moves and result of each played match, by the number of its pair and its leg."""
    return {
        (pairing.pair.number, pairing.leg): (
            record.players,
            [each.move for each in record.moves],
            record.result.winner,
            record.result.reason,
        )
        for pairing, record in played.played_matches
    }


async def test_the_same_event_as_on_one_machine_also_when_a_worker_dies(tmp_path: Path, mark: str) -> None:
    bots = [bot("a"), bot("b"), bot("c")]
    here = ladder(tmp_path / "here.jsonl", *bots)
    with anyio.fail_after(500):
        await run_ladder(here, RecordingObserver())

    watch, there = RecordingObserver(), ladder(tmp_path / "there.jsonl", *bots)
    victims: list[subprocess.Popen[bytes]] = []
    url = f"sqlite:///{tmp_path / 'arena.db'}"
    async with cluster(tmp_path, workers=2) as made:
        with anyio.fail_after(500):
            async with anyio.create_task_group() as tasks:

                async def kill_one_in_mid_pair() -> None:
                    await watch.first.wait()
                    # A worker that plays has child processes: the supervisors of its bots.
                    while not (playing := [each for each in made.workers if children(each.pid)]):
                        await anyio.sleep(0.005)
                    victims.append(playing[0])
                    playing[0].send_signal(signal.SIGKILL)

                tasks.start_soon(kill_one_in_mid_pair)
                await run_ladder(there, watch, database_url=url, scheduler_address=made.address)
            assert await exit_status(*victims) == -signal.SIGKILL
    assert all_gone(mark), processes_of(mark)

    assert matches_by_place(there) == matches_by_place(here)
    assert make_standings(there.bot_names, there.records) == make_standings(here.bot_names, here.records)
    assert len(there.played_matches) == there.total_matches == 12
    written = list(records.read_records(tmp_path / "there.jsonl"))
    for each in written:
        verify_record(each)
    with closing(sqlite3.connect(tmp_path / "arena.db")) as store:
        packed = store.execute("select match, packed from matches join records using (number)")
        stored = {match: unpack_record(piece) for match, piece in packed}
    assert stored == {each.match: format_record_line(each) for each in written}
    assert len(stored) == 12

    # Run it again: no match is left, so no cluster is used.
    again = ladder(tmp_path / "there.jsonl", *bots)
    with anyio.fail_after(500):
        await run_ladder(again, RecordingObserver(), database_url=url, scheduler_address="tcp://127.0.0.1:1")
    assert matches_by_place(again) == matches_by_place(here)


def children(process: int) -> str:
    try:
        return " ".join(each.read_text() for each in Path(f"/proc/{process}/task").glob("*/children")).strip()
    except FileNotFoundError:
        return ""


async def test_an_event_whose_scheduler_dies_ends_with_one_line_and_goes_on(tmp_path: Path) -> None:
    bots, url = [bot("a"), bot("b")], f"sqlite:///{tmp_path / 'arena.db'}"
    watch, stopped = RecordingObserver(), ladder(tmp_path / "record.jsonl", *bots, rounds=6)
    async with cluster(tmp_path, workers=1) as made:
        with anyio.fail_after(500):
            async with anyio.create_task_group() as tasks:

                async def kill() -> None:
                    await watch.first.wait()
                    made.scheduler.send_signal(signal.SIGKILL)

                tasks.start_soon(kill)
                problem = None
                try:
                    await run_ladder(stopped, watch, database_url=url, scheduler_address=made.address)
                except DaskClusterUnavailable as lost:
                    problem = lost
    assert str(problem).startswith("the Dask scheduler has gone: ")
    assert 1 <= len(stopped.played_matches) < 12  # of the last pair, one match may have come too late
    assert {record.result.reason for record in stopped.records} <= {EndReason.LINE, EndReason.BOARD_FULL}

    again = ladder(tmp_path / "record.jsonl", *bots, rounds=6)
    with anyio.fail_after(500):
        await run_ladder(again, RecordingObserver(), database_url=url)
    assert (again.resumed_match_count, len(again.played_matches)) == (len(stopped.played_matches), 12)


async def test_a_json_lines_program_has_its_own_time_control(shared: Cluster, tmp_path: Path) -> None:
    (tmp_path / "first.py").write_text(FIRST_LEGAL)
    program = make_engine_bot_plan(f"exec:{sys.executable} first.py")
    odds = replace(program, name="lines", time_control=TimeControl.parse("900+30"))
    watch = RecordingObserver()
    finished_ladder = ladder(tmp_path / "record.jsonl", odds, bot("a"), rounds=1, folder=tmp_path)
    with anyio.fail_after(500):
        await run_ladder(finished_ladder, watch, scheduler_address=shared.address)
    assert watch.notices == []
    assert {record.result.reason for record in finished_ladder.records} <= {
        EndReason.LINE,
        EndReason.BOARD_FULL,
    }
    for each in records.read_records(tmp_path / "record.jsonl"):
        own = TimeOdds(**{"maxie" if each.players.maxie == "lines" else "minnie": "900+30"})
        assert (each.time_control, each.time_odds) == ("120+0", own)
    clocks = [int(line) for line in (tmp_path / "clocks").read_text().split()]
    assert len(clocks) >= 4
    assert min(clocks) > 800_000, "the ladder's other bot alone has two minutes"


async def test_a_last_record_that_cannot_be_written_ends_the_event(shared: Cluster, tmp_path: Path) -> None:
    stopped = ladder(tmp_path / "record.jsonl", bot("a"), bot("b"), rounds=1)
    with anyio.fail_after(500), full_disk_after(1):
        await run_ladder(stopped, RecordingObserver(), scheduler_address=shared.address)
    assert len(stopped.records) == len(list(records.read_records(tmp_path / "record.jsonl"))) == 1


async def test_failing_bots_are_reported_as_on_one_machine(shared: Cluster, tmp_path: Path) -> None:
    with anyio.fail_after(500):
        with pytest.raises(BotNotStarted, match=r"^bot b cannot play: no engine is called 'x'$"):
            await run_ladder(
                ladder(tmp_path / "1.jsonl", bot("a"), bot("b", "misuse")),
                RecordingObserver(),
                scheduler_address=shared.address,
            )
        watch, played = (
            RecordingObserver(),
            ladder(tmp_path / "2.jsonl", bot("a"), bot("b", "crash"), rounds=1),
        )
        await run_ladder(played, watch, scheduler_address=shared.address)
    assert {record.result.reason for record in played.records} == {EndReason.NO_SHOW}
    assert any(line.startswith("bot b ended unexpectedly") for line in watch.notices)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nowhere://x"])
async def test_a_missing_cluster_is_reported_in_one_line(address: str) -> None:
    with pytest.raises(DaskClusterUnavailable, match=f"^no Dask scheduler answers at {address}: ") as lost:
        async with open_dask_client(address, 0.3):
            pytest.fail("there is none")
    assert len(str(lost.value).splitlines()) == 1


async def test_a_cluster_without_workers_is_waited_for_and_given_up(
    tmp_path: Path, host: ArenaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.ladder.dask_runner.MAX_SECONDS_WITHOUT_WORKER", 0.1)
    games = [game_of()]
    terms = EventTerms("test", games, TimeControl(5000), margin_ms=100, ready_timeout_ms=5000)
    async with cluster(tmp_path, workers=0) as made:
        with anyio.fail_after(500):
            async with open_dask_client(made.address, 500) as client:
                runner = DaskRunner(
                    client,
                    host.shell,
                    terms,
                    LadderPlan((bot("a"), bot("b"))),
                    lambda *_: None,
                    on_void_match=lambda *_: None,
                    on_notice=pytest.fail,
                    restart_policy=QUICK,
                )
                schedule = Schedule("1", make_format("round-robin", ["a", "b"], 2, 1, 1))
                with pytest.raises(
                    DaskClusterUnavailable, match=r"^the cluster has had no worker for 0.1 s: start workers"
                ):
                    await runner.run(schedule)


def test_pairs_are_resumed_as_a_whole_or_by_their_missing_match() -> None:
    def schedule() -> Schedule:
        return Schedule("1", make_format("round-robin", ["a", "b", "c"], 2, 1, 1))

    taken, all_of_it = [], schedule()
    while pair := start_next_pair(all_of_it):
        assert [each.leg for _, each in pair] == [0, 1]
        assert len({each.pair for _, each in pair}) == 1
        taken += pair
    assert len({match for match, _ in taken}) == 12

    half = schedule()
    half.restore_results(
        {taken[0][0]: record(taken[0][0], maxie=taken[0][1].maxie, minnie=taken[0][1].minnie)}
    )
    lonely = next(pair for pair in iter(lambda: start_next_pair(half), []) if len(pair) == 1)
    assert lonely == [taken[1]]


def test_a_workers_record_is_held_against_its_match() -> None:
    match = spec("anna", "bert", "1+0.1")
    good = record(match.match, moves=(4, 0))
    assert parse_worker_record(format_record_line(good), match) == good
    with pytest.raises(BadRecord, match="not a valid arena-record/1 record"):
        parse_worker_record("{}", match)
    with pytest.raises(
        BadRecord,
        match=r"the record says '[0-9a-f]{32}' for `match`, but the match was planned with '[0-9a-f]{32}'",
    ):
        parse_worker_record(format_record_line(msgspec.structs.replace(good, match=uuid4().hex)), match)
    with pytest.raises(BadRecord, match="illegal move"):
        parse_worker_record(format_record_line(record(match.match, moves=(4, 4))), match)
    with pytest.raises(BadRecord, match="opening"):
        parse_worker_record(format_record_line(good), msgspec.structs.replace(match, opening=(4,)))
