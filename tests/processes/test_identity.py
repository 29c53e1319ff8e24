"""Identity of a process, and the check whether the process has ended."""

from __future__ import annotations

import os
import subprocess
import sys

import msgspec
import pytest
from msgspec.structs import replace

from arena.processes.identity import ProcessIdentity, has_ended, identify_this_process

PROGRAM = (
    "import msgspec; from arena.processes.identity import identify_this_process;"
    " print(msgspec.json.encode(identify_this_process()).decode(), flush=True); input()"
)


def test_a_process_is_gone_as_soon_as_it_was_killed_and_not_before() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        data = msgspec.json.decode(other.stdout.readline(), type=ProcessIdentity)
        assert data.pid == other.pid
        assert not has_ended(data)
        other.kill()
        os.waitid(
            os.P_PID, other.pid, os.WEXITED | os.WNOWAIT
        )  # it has ended, and keeps its id until it is reaped
        assert has_ended(data)
        other.wait()
        assert has_ended(data)


def test_the_current_process_has_not_ended() -> None:
    me = identify_this_process()
    assert me == identify_this_process()
    assert not has_ended(me)


def test_another_process_of_the_same_number_is_not_the_one_that_is_gone() -> None:
    assert has_ended(replace(identify_this_process(), start_ticks="1"))


@pytest.mark.parametrize(
    "change", [{"boot_and_namespace_ids": "elsewhere"}, {"boot_and_namespace_ids": ""}, {"start_ticks": ""}]
)
def test_nothing_is_known_about_a_process_of_another_machine(change: dict[str, str]) -> None:
    assert not has_ended(replace(identify_this_process(), pid=2**22 + 1, **change))
