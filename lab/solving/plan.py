"""Estimated cost of a solution in memory and time, the available memory, and the largest map that fits."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from math import log
from pathlib import Path

from arena.solved.boards import Boards, Permutation

CODE_BYTES = 2
FIXED = 400 << 20
"""Memory for Python, the compiled code, and blocks on their way into the file, in bytes."""
CHECKPOINT_BYTES = 8
"""Memory per representative board during a checkpoint, in bytes: its code, the compressed code, and a copy."""
SURVEY_SECONDS = 50e-9
"""Core seconds per board in the first pass over all boards. This and the following times were measured on m1."""
PACK_SECONDS = 400e-9
STEP_SECONDS = 2e-6
"""Core seconds per representative board in all steps together."""

MEMINFO = Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Plan:
    """Cost of solving some boards."""

    boards: Boards
    representatives: int
    """Number of boards that represent all their symmetric images, including finished ones."""

    @property
    def bytes(self) -> int:
        """Peak memory, in bytes."""
        count = self.boards.count
        each = number_bytes(count) + CHECKPOINT_BYTES
        return FIXED + CODE_BYTES * count + count // 8 + each * self.representatives

    def seconds(self, cores: int) -> float:
        """Return the approximate duration on `cores` cores, in seconds."""
        work = (SURVEY_SECONDS + PACK_SECONDS) * self.boards.count + STEP_SECONDS * self.representatives
        return 2 + work / cores


def number_bytes(count: int) -> int:
    """Return the size of a board's index during the solution, in bytes."""
    return 4 if count <= 1 << 32 else 8


def plan(boards: Boards) -> Plan:
    """Return the cost of solving these boards, by Burnside's lemma. O(V) for each symmetry."""
    symmetries = boards.symmetries
    fixed = sum(boards.base ** _cycles(symmetry) for symmetry in symmetries)
    return Plan(boards, fixed // len(symmetries))


def _cycles(symmetry: Permutation) -> int:
    rest = set(range(len(symmetry)))
    count = 0
    while rest:
        count += 1
        v = rest.pop()
        while symmetry[v] in rest:
            v = symmetry[v]
            rest.discard(v)
    return count


def largest_cap(boards: Boards, memory: int, least: int = 1) -> int | None:
    """Return the highest cap, from `least` to the boards' own cap, at which the boards fit into `memory` bytes; None if none
    does.
    """
    for cap in range(boards.cap, least - 1, -1):
        # A board takes at least two bytes, so most caps are rejected without counting symmetries.
        if boards.territories * log(2 * cap + 1) > log(max(memory, 1)):
            continue
        if plan(replace(boards, cap=cap)).bytes <= memory:
            return cap
    return None


def available(meminfo: Path = MEMINFO, cgroup: Path = CGROUP) -> int:
    """Return the memory that a process can use without pushing others out, in bytes.

    The limit of its control group (version 2) is respected. If the system does not report free memory, half of the
    machine's memory is assumed.
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
