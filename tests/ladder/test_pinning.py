import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.cores import list_usable_cores
from arena.ladder.bot_processes import open_bot_processes
from arena.ladder.ladder_run import run_ladder
from arena.ladder.pinning import CorePinning, can_pin_processes, choose_cores_for_bots, pin_process
from arena.protocol import record as records
from arena.rating.standings import is_void
from arena.server.host import ArenaServer
from tests.ladder.test_ladder_run import RecordingObserver, ladder
from tests.server.fleets import QUICK, ROOT, bot

pytestmark = pytest.mark.skipif(not can_pin_processes(), reason="this system cannot pin processes to cores")

BUSY = """
import subprocess, sys, threading, time
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
child = subprocess.Popen([sys.executable, "-c", "print('here', flush=True); import time; time.sleep(60)"])
time.sleep(60)
"""


def threads_below(process: int) -> list[int]:
    """Return the ids of all threads of a process and its descendants, from the parent of each process in /proc."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
    family = {process}
    while more := {child for child, parent in parents.items() if parent in family} - family:
        family |= more
    return [int(task.name) for each in family for task in Path(f"/proc/{each}/task").iterdir()]


@pytest.fixture
def busy() -> Iterator[int]:
    """Yield the id of a process that has started a second thread and a child process."""
    with subprocess.Popen(
        [sys.executable, "-c", BUSY], stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"here\n"
            yield process.pid
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def test_every_thread_and_child_is_pinned(busy: int) -> None:
    one = frozenset(list_usable_cores()[-1:])
    assert len(threads_below(busy)) >= 3
    pin_process(busy, one)
    assert {frozenset(os.sched_getaffinity(each)) for each in threads_below(busy)} == {one}


def test_an_ended_process_does_not_prevent_the_pinning_of_another(busy: int) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    one = list_usable_cores()[-1:]
    pinning = CorePinning(one, 1, {"gone": gone.pid, "busy": busy}.get)
    with pinning.pin_bots_during_match(("gone", "busy"), 1):
        assert {frozenset(os.sched_getaffinity(each)) for each in threads_below(busy)} == {frozenset(one)}


@pytest.mark.parametrize(
    ("every", "bots"),
    [([3], [3]), ([0, 5], [0, 5]), ([0, 1, 2], [1, 2]), ([4, 5, 6, 7], [5, 6, 7])],
    ids=str,
)
def test_the_server_keeps_one_of_more_than_two_cores(every: list[int], bots: list[int]) -> None:
    assert choose_cores_for_bots(every) == bots


def loads(cores: int, most: int, matches: list[int]) -> list[int]:
    """Return the number of groups of bots on each core.

    most     maximum number of threads of all matches together
    matches  number of threads of each parallel match
    """
    pinning = CorePinning(range(cores), most, lambda _name: None)
    with ExitStack() as stack:
        for number, threads in enumerate(matches):
            stack.enter_context(pinning.pin_bots_during_match((f"a{number}", f"b{number}"), threads))
        return list(pinning._assignment_count_by_core.values())


@given(st.integers(1, 16), st.lists(st.integers(1, 4), min_size=1, max_size=8))
def test_cores_are_shared_evenly_or_not_at_all_if_there_are_enough(cores: int, matches: list[int]) -> None:
    most = sum(matches)
    found = loads(cores, most, matches)
    assert max(found) - min(found) <= 1
    if cores >= 2 * most:
        assert sum(found) == 2 * most, "each bot has its own"
    if cores >= most:
        assert max(found) <= 1


@given(st.integers(1, 8), st.integers(1, 8), st.integers(1, 4))
def test_cores_are_given_back(cores: int, most: int, threads: int) -> None:
    pinning = CorePinning(range(cores), most, lambda _name: None)
    with (
        pytest.raises(RuntimeError),
        pinning.pin_bots_during_match(("a", "b"), threads),
        pinning.pin_bots_during_match(("c", "d"), threads),
    ):
        raise RuntimeError("the match is void")
    assert set(pinning._assignment_count_by_core.values()) == {0}


@pytest.mark.slow
async def test_bots_that_play_are_on_the_cores_of_their_match(host: ArenaServer) -> None:
    own = list_usable_cores()
    async with open_bot_processes(
        host, [bot("a"), bot("b"), bot("c")], folder=ROOT, restart_policy=QUICK, on_notice=pytest.fail
    ) as fleet:
        await fleet.wait_until_connected()
        pinning = CorePinning(own, len(own), fleet.find_process_id)
        with pinning.pin_bots_during_match(("a", "b"), 1):
            for name in ("a", "b", "c"):
                process = fleet.find_process_id(name)
                assert process is not None
                where = {frozenset(os.sched_getaffinity(each)) for each in threads_below(process)}
                assert where == {frozenset(own if name == "c" else own[:1])}
        assert fleet.find_process_id("nobody") is None


@pytest.mark.slow
async def test_a_ladder_of_pinned_bots(tmp_path: Path) -> None:
    finished_ladder = ladder(tmp_path / "record.jsonl", bot("a"), bot("b"), bot("c"), rounds=2)
    finished_ladder.plan = replace(finished_ladder.plan, should_pin_bots=True)
    with anyio.fail_after(500):
        await run_ladder(finished_ladder, RecordingObserver())
    finished = list(records.read_records(tmp_path / "record.jsonl"))
    assert len(finished) == 12
    assert not any(map(is_void, finished))
    assert set(os.sched_getaffinity(0)) == set(list_usable_cores())
