"""The cost of a solution before it begins: bytes of memory, and time; the memory there is, and the largest map that fits."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from math import log
from pathlib import Path

from arena.solved.boards import Boards
from arena.solved.symmetry import Permutation

CODE_BYTES = 2
FIXED = 400 << 20
"""Python, the compiled code, blocks on their way into the file."""
CHECKPOINT_BYTES = 8
"""A board that stands for others while a checkpoint is written or read: its code, that packed, and the same once more."""
SURVEY_SECONDS = 50e-9
"""Seconds of a core for each board in the first pass over all of them, with the counting and the packing."""
PACK_SECONDS = 400e-9
STEP_SECONDS = 2e-6
"""Seconds of a core for each board that stands for others, in all steps together; all these were measured on m1."""

MEMINFO = Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Plan:
    """The cost of solving some boards."""

    boards: Boards
    representatives: int
    """Boards that stand for all that look alike, those that are over included."""

    @property
    def bytes(self) -> int:
        """The most memory that is taken, all of it counted."""
        count = self.boards.count
        each = number_bytes(count) + CHECKPOINT_BYTES
        return FIXED + CODE_BYTES * count + count // 8 + each * self.representatives

    def seconds(self, cores: int) -> float:
        """About how long it lasts."""
        work = (SURVEY_SECONDS + PACK_SECONDS) * self.boards.count + STEP_SECONDS * self.representatives
        return 2 + work / cores


def number_bytes(count: int) -> int:
    """The bytes in which the number of a board is kept while the boards are solved."""
    return 4 if count <= 1 << 32 else 8


def plan(boards: Boards) -> Plan:
    """What solving these boards costs; by Burnside's lemma. O(V) for each symmetry."""
    symmetries = boards.symmetries
    fixed = sum(boards.base ** _cycles(symmetry) for symmetry in symmetries)
    return Plan(boards, fixed // len(symmetries))


def _cycles(symmetry: Permutation) -> int:
    left = set(range(len(symmetry)))
    found = 0
    while left:
        found += 1
        v = left.pop()
        while symmetry[v] in left:
            v = symmetry[v]
            left.discard(v)
    return found


def largest_cap(boards: Boards, memory: int, least: int = 1) -> int | None:
    """The highest cap, from `least` to the one that the boards have, with which they fit into so many bytes; None: none does."""
    for cap in range(boards.cap, least - 1, -1):
        # A board takes two bytes at the least, so most caps are refused without counting symmetries.
        if boards.territories * log(2 * cap + 1) > log(max(memory, 1)):
            continue
        if plan(replace(boards, cap=cap)).bytes <= memory:
            return cap
    return None


def available(meminfo: Path = MEMINFO, cgroup: Path = CGROUP) -> int:
    """The bytes that a process can take without pushing others out, its control group's limit kept (version 2).

    Where the system does not tell, half of the machine's memory.
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
