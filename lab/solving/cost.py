"""Estimate of the memory and time that the solver needs for a map, and of the largest army cap that fits into memory.

A board is a position. Of the boards that the map's symmetries turn into each other, the solver solves only one, the
representative board.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from math import log
from pathlib import Path

from arena.solved.board_numbers import BoardNumbering, Permutation

CODE_BYTES_PER_BOARD = 2
"""Bytes of memory for the code (encoded value) of each board, a position on the map."""
FIXED_SOLVER_MEMORY_BYTES = 400 << 20
"""Bytes of memory that solving any map takes: Python, the compiled code, and blocks of the table that are being written."""
CHECKPOINT_BYTES_PER_BOARD = 8
"""Bytes of memory per representative board while a checkpoint is written: up to four copies of its value's code of two bytes.

The copies are an array, the array's bytes, the compressed bytes, and the compressed bytes with the file's header.
"""
CLASSIFICATION_SECONDS_PER_BOARD = 50e-9
"""CPU seconds per board (position) for the classification, the solver's first pass over all boards. Measured with map `m1`."""
PACKING_SECONDS_PER_BOARD = 400e-9
"""CPU seconds per board (position) for compressing the solved table. Measured with the map `m1`."""
RETROGRADE_SECONDS_PER_BOARD = 2e-6
"""CPU seconds for the whole retrograde analysis, per set of symmetric boards (positions). Measured with the map `m1`."""

MEMINFO_FILE = Path("/proc/meminfo")
CGROUP_FOLDER = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class SolvingCost:
    """Memory and time that it takes to solve all boards (positions) of a map."""

    boards: BoardNumbering
    representative_count: int
    """Number of representative boards: one for each set of boards that the map's symmetries turn into each other.

    Finished boards are included.
    """

    @property
    def peak_memory_bytes(self) -> int:
        """Return the estimated peak memory of the solver, in bytes."""
        count = self.boards.board_count
        bytes_per_representative = count_bytes_per_board_number(count) + CHECKPOINT_BYTES_PER_BOARD
        return (
            FIXED_SOLVER_MEMORY_BYTES
            + CODE_BYTES_PER_BOARD * count
            + count // 8
            + bytes_per_representative * self.representative_count
        )

    def estimate_seconds(self, core_count: int) -> float:
        """Return the estimated duration of solving on `core_count` CPU cores, in seconds."""
        cpu_seconds = (
            CLASSIFICATION_SECONDS_PER_BOARD + PACKING_SECONDS_PER_BOARD
        ) * self.boards.board_count + RETROGRADE_SECONDS_PER_BOARD * self.representative_count
        return 2 + cpu_seconds / core_count


def count_bytes_per_board_number(board_count: int) -> int:
    """Return the number of bytes that the solver needs to store a board's number, if `board_count` boards (positions) exist."""
    return 4 if board_count <= 1 << 32 else 8


def estimate_solving_cost(boards: BoardNumbering) -> SolvingCost:
    """Return the memory and time that it takes to solve `boards`, all boards of a map.

    Representative boards (one of each set of symmetric boards) are counted by Burnside's lemma, in time proportional to
    the number of territories for each symmetry.
    """
    symmetries = boards.symmetries
    fixed_board_sum = sum(boards.radix ** _count_permutation_cycles(symmetry) for symmetry in symmetries)
    return SolvingCost(boards, fixed_board_sum // len(symmetries))


def _count_permutation_cycles(symmetry: Permutation) -> int:
    remaining_territories = set(range(len(symmetry)))
    count = 0
    while remaining_territories:
        count += 1
        territory = remaining_territories.pop()
        while symmetry[territory] in remaining_territories:
            territory = symmetry[territory]
            remaining_territories.discard(territory)
    return count


def find_largest_territory_cap(
    boards: BoardNumbering, memory_bytes: int, min_territory_cap: int = 1
) -> int | None:
    """Return the largest territory cap (most armies on one territory) with which the map can be solved in `memory_bytes`.

    Only caps from `min_territory_cap` to the map's own cap are tried. The result is None if none of them fits.
    """
    for cap in range(boards.territory_cap, min_territory_cap - 1, -1):
        # A board takes at least two bytes, so most caps are rejected without counting symmetries.
        if boards.territory_count * log(2 * cap + 1) > log(max(memory_bytes, 1)):
            continue
        if estimate_solving_cost(replace(boards, territory_cap=cap)).peak_memory_bytes <= memory_bytes:
            return cap
    return None


def measure_available_memory_bytes(
    meminfo_file: Path = MEMINFO_FILE, cgroup_folder: Path = CGROUP_FOLDER
) -> int:
    """Return the memory that this process can use without swapping, in bytes.

    The memory limit of the process's control group (version 2) is taken into account. If the system does not report its
    available memory, half of the machine's memory is assumed.
    """
    try:
        lines = dict(line.split(":", 1) for line in meminfo_file.read_text().splitlines())
        free_bytes = int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError):
        free_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    try:
        limit_text, used = (
            (cgroup_folder / f"memory.{name}").read_text().strip() for name in ("max", "current")
        )
    except OSError:
        return free_bytes
    return free_bytes if limit_text == "max" else max(0, min(free_bytes, int(limit_text) - int(used)))
