"""Load from processes of its own, against a real relay."""

from __future__ import annotations

import os
import time
from multiprocessing import resource_tracker

import pytest

from benchmarks.kit.full_speed import serve_relay
from benchmarks.kit.load_processes import RELAY_CLIENT, run_load_processes
from benchmarks.kit.running_server import split_cores


@pytest.fixture(scope="module", autouse=True)
def _tracker() -> None:
    """Start the process that stays behind any process of `multiprocessing`."""
    resource_tracker.ensure_running()


def test_counts_of_bots_in_several_processes_are_added() -> None:
    with serve_relay() as running, run_load_processes(running.url, 4, client_kind=RELAY_CLIENT) as load:
        load.wait_until_all_connected(4)
        end = time.monotonic() + 150
        while load.move_count < 100 and time.monotonic() < end:
            time.sleep(0.01)
        assert load.move_count >= 100
        assert load.error_count == 0
        assert len(load.list_cpu_seconds()) == len(load.processes) == min(2, len(split_cores()[1]))
        assert running.cpu_seconds > 0
    assert all(each.exitcode is not None for each in load.processes)


def test_the_halves_are_the_cores_of_this_process() -> None:
    mine = os.sched_getaffinity(0)
    server_cores, load_cores = split_cores()
    assert server_cores | load_cores == mine
    assert len(mine) < 4 or not server_cores & load_cores
