from __future__ import annotations

import subprocess
import sys

import pytest

from arena.lab.processes import map_in_processes

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
def test_results_come_in_the_order_of_the_parts_which_are_taken_as_needed(processes: int) -> None:
    """Run in a separate program, because the pool leaves a process behind that ends with its parent."""
    result = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM, str(processes)], capture_output=True, text=True, check=True
    )
    in_order, taken = result.stdout.split()
    assert in_order == "True"
    assert int(taken) <= 20 + 2 * processes


def test_there_may_be_no_parts_and_what_a_part_raises_is_raised() -> None:
    assert list(map_in_processes(pow, (), 1)) == []
    with pytest.raises(ZeroDivisionError):
        list(map_in_processes(divmod, [(1, 1), (1, 0)], 1))
