"""Estimates for the solver: memory and time for a map, the available memory, and the largest cap that fits into it.

Of a set of boards that the map's symmetries turn into each other, the solver solves only one, the representative.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from math import log
from pathlib import Path

from arena.solved.board_numbers import Boards, Permutation

CODE_BYTES = 2
FIXED_BYTES = 400 << 20
"""Bytes of memory that do not depend on the map: Python, the compiled code, and blocks that are being written."""
CHECKPOINT_BYTES = 8
"""Bytes of memory per representative board while a checkpoint is written: the code, compressed code, and a copy."""
SURVEY_SECONDS = 50e-9
"""CPU seconds per board in the survey of all boards. This time and those below were measured with the map `m1`."""
PACK_SECONDS = 400e-9
STEP_SECONDS = 2e-6
"""CPU seconds per representative board, for all steps together."""

MEMINFO = Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class SolvingCost:
    """Cost of solving all boards of a map."""

    boards: Boards
    representatives: int
    """Number of representative boards, including finished ones."""

    @property
    def bytes(self) -> int:
        """Peak memory, in bytes."""
        count = self.boards.count
        each = count_bytes_per_number(count) + CHECKPOINT_BYTES
        return FIXED_BYTES + CODE_BYTES * count + count // 8 + each * self.representatives

    def seconds(self, cores: int) -> float:
        """Return the estimated duration on `cores` cores, in seconds."""
        work = (SURVEY_SECONDS + PACK_SECONDS) * self.boards.count + STEP_SECONDS * self.representatives
        return 2 + work / cores


def count_bytes_per_number(count: int) -> int:
    """Return the number of bytes that store the number of a board, if there are `count` boards."""
    return 4 if count <= 1 << 32 else 8


def estimate_cost(boards: Boards) -> SolvingCost:
    """Return the memory and time that solving these boards takes.

    Representatives are counted by Burnside's lemma, in time proportional to the number of territories for each
    symmetry.
    """
    symmetries = boards.symmetries
    fixed = sum(boards.base ** _count_cycles(symmetry) for symmetry in symmetries)
    return SolvingCost(boards, fixed // len(symmetries))


def _count_cycles(symmetry: Permutation) -> int:
    rest = set(range(len(symmetry)))
    count = 0
    while rest:
        count += 1
        v = rest.pop()
        while symmetry[v] in rest:
            v = symmetry[v]
            rest.discard(v)
    return count


def find_largest_cap(boards: Boards, memory: int, least: int = 1) -> int | None:
    """Return the largest cap with which the boards can be solved in `memory` bytes, from `least` to the boards' own cap.

    Return None if no such cap fits.
    """
    for cap in range(boards.cap, least - 1, -1):
        # A board takes at least two bytes, so most caps are rejected without counting symmetries.
        if boards.territories * log(2 * cap + 1) > log(max(memory, 1)):
            continue
        if estimate_cost(replace(boards, cap=cap)).bytes <= memory:
            return cap
    return None


def measure_available_memory(meminfo: Path = MEMINFO, cgroup: Path = CGROUP) -> int:
    """Return the memory that this process can use without swapping, in bytes.

    The memory limit of the process's control group (version 2) is taken into account. If the system does not report its
    available memory, half of the machine's memory is assumed.
    """
    try:
        lines = dict(line.split(":", 1) for line in meminfo.read_text().splitlines())
        free = int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError):
        free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    try:
        limit, used = ((cgroup / f"memory.{name}").read_text().strip() for name in ("max", "current"))
    except OSError:
        return free
    return free if limit == "max" else max(0, min(free, int(limit) - int(used)))
