from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from arena.lab.processes import map_in_processes
from tests.bots.command_line import heed_interrupts

PROGRAM = """
import sys
from contextlib import closing
from arena.lab.processes import map_in_processes

taken = []

def parts():
    for number in range(1000):
        taken.append(number)
        yield number, 2

if __name__ == "__main__":
    with closing(map_in_processes(pow, parts(), int(sys.argv[1]))) as done:
        found = [next(done) for _ in range(20)]
    print(found == [((number, 2), number**2) for number in range(20)], len(taken))
"""


@pytest.mark.parametrize("processes", [1, 2])
def test_results_are_in_the_order_of_the_arguments_which_are_read_as_needed(processes: int) -> None:
    """The calls run in a separate program, because the pool starts a process that ends only with its parent."""
    result = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM, str(processes)], capture_output=True, text=True, check=True
    )
    in_order, taken = result.stdout.split()
    assert in_order == "True"
    assert int(taken) <= 20 + 2 * processes


INTERRUPTED = """
import sys, time
from contextlib import closing
from operator import call
from pathlib import Path
from arena.lab.processes import map_in_processes

if __name__ == "__main__":
    pipe = Path(sys.argv[1])  # the reader and the writer wait for each other, so both processes are running
    parts = [(pipe.read_text,), (pipe.write_text, "x"), (time.sleep, 1000)]
    try:
        with closing(map_in_processes(call, parts, 2)) as done:
            for _ in done:
                print("done", flush=True)
    except KeyboardInterrupt:
        print("interrupted")
"""


def test_ctrl_c_ends_all_processes_without_an_error_message(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    program = subprocess.Popen(
        [sys.executable, "-P", "-c", INTERRUPTED, tmp_path / "pipe"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heed_interrupts,  # noqa: PLW1509
    )
    assert program.stdout is not None
    assert [program.stdout.readline() for _ in range(2)] == ["done\n"] * 2
    os.killpg(program.pid, signal.SIGINT)
    assert program.communicate(timeout=500) == ("interrupted\n", "")


def test_the_processes_end_if_the_program_is_killed(tmp_path: Path) -> None:
    """The worker processes have the program's output open, so its end is read once they have ended."""
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(
        [sys.executable, "-P", "-c", INTERRUPTED, tmp_path / "pipe"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as program:
        assert program.stdout is not None
        assert [program.stdout.readline() for _ in range(2)] == ["done\n"] * 2
        program.kill()
        try:
            assert program.communicate(timeout=500)[0] == ""
        except subprocess.TimeoutExpired:
            os.killpg(program.pid, signal.SIGKILL)
            raise


def test_no_arguments_give_no_results_and_an_error_of_a_call_is_raised() -> None:
    assert list(map_in_processes(pow, (), 1)) == []
    with pytest.raises(ZeroDivisionError):
        list(map_in_processes(divmod, [(1, 1), (1, 0)], 1))


KILLED = """
import os
from arena.lab.processes import ProcessKilled, map_in_processes

if __name__ == "__main__":
    try:
        list(map_in_processes(os._exit, [(1,)], 2))
    except ProcessKilled as error:
        print(error)
"""


def test_a_killed_process_is_reported_in_one_line() -> None:
    """The calls run in a separate program, because the pool starts a process that ends only with its parent."""
    result = subprocess.run([sys.executable, "-P", "-c", KILLED], capture_output=True, text=True, check=True)
    assert re.fullmatch(r"a worker process was killed.*: give fewer --processes\n", result.stdout)
