"""Solver of `arena solve`: it solves all boards (positions) of a map on all CPU cores, and writes the table to a file.

The work has three phases: classification of all boards, retrograde analysis, and compression. Step n of the retrograde
analysis finds all boards that are won or lost in n plies. From time to time the results are saved to a checkpoint. If the
solver is killed and started again, it repeats the classification and resumes from the checkpoint.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.lab.solving.checkpoint import load_checkpoint, save_checkpoint
from arena.lab.solving.cost import count_bytes_per_board_number
from arena.lab.solving.retrograde import RetrogradeAnalysis
from arena.lab.solving.riskless_solver_game import (
    RISKLESS_SOLVER_GAME,
    make_board_classification_kernel,
    make_checkpoint_restore_kernel,
    make_undecided_board_listing_kernel,
)
from arena.lab.solving.rules_array import count_scratch_words, make_rules_array
from arena.solved.board_numbers import BoardNumbering
from arena.solved.header import BOARDS_PER_BLOCK, BoardCounts, TableHeader, compute_boards_digest
from arena.solved.solved_table import write_table
from arena.solved.zstandard import zstd

BOARDS_PER_RANGE = BOARDS_PER_BLOCK * 16
"""Number of boards (positions) that a thread handles at a time: a multiple of the number of boards in a block of the table."""
TABLE_ZSTD_LEVEL = 15
"""Zstandard level for solved tables of over MAX_SMALL_TABLE_BLOCKS blocks. Higher levels are slow and hardly save space."""
MAX_SMALL_TABLE_BLOCKS = 16
"""Maximum number of blocks of a solved table that is compressed at the higher level SMALL_TABLE_ZSTD_LEVEL."""
SMALL_TABLE_ZSTD_LEVEL = 19
"""Zstandard level for solved tables of at most MAX_SMALL_TABLE_BLOCKS blocks, which may be shipped with the package."""


ReportPhaseProgress = Callable[[str, int, int], None]
"""Function that reports progress. Arguments: name of the current phase, number of its finished steps, and of all its steps."""


@dataclass
class Solver:
    """Solver that computes the values of all boards (positions) of a map.

    boards                       numbering of all boards of the map, with its roads, cap and number of armies to win
    checkpoint_file              path of the file for intermediate results
    thread_count                 number of threads that work
    on_progress                  function that is called after each step of a phase
    checkpoint_interval_seconds  minimum number of seconds between two checkpoints. If a checkpoint took t seconds to write,
                                 the interval until the next one is at least 10 t seconds.
    """

    boards: BoardNumbering
    checkpoint_file: Path
    thread_count: int
    on_progress: ReportPhaseProgress
    checkpoint_interval_seconds: float = 5.0

    def solve(self, path: Path) -> TableHeader:
        """Solve all boards (positions), write the solved table to `path`, and return the table's header.

        The bytes of the file do not depend on the number of threads, nor on how often the process was killed and
        started again.

        Raises WinTooLong if a win takes more plies than a table can store, checkpoint.BadCheckpoint if the checkpoint cannot
        be used, OSError if a file cannot be read or written, and MemoryError if the memory is too small.
        """
        with ThreadPoolExecutor(self.thread_count, "solve") as workers:
            self._allocate_arrays()
            self._classify_boards(workers)
            self._run_retrograde_analysis(workers)
            header = self._make_header()
            blocks = self._pack_blocks(workers, header)
        write_table(path, header, blocks)
        self.checkpoint_file.unlink(missing_ok=True)
        return header

    def _allocate_arrays(self) -> None:
        count = self.boards.board_count
        self._rules = make_rules_array(self.boards)
        self._scratch_words = count_scratch_words(self.boards)
        self._codes = np.zeros(count, np.uint16)
        self._representative_bits = np.zeros(-(-count // 8), np.uint8)
        self._board_ranges = [
            (first, min(first + BOARDS_PER_RANGE, count)) for first in range(0, count, BOARDS_PER_RANGE)
        ]

    def _map_with_progress(
        self, workers: Executor, phase_name: str, function: Callable[[int], Any], total: int
    ) -> Iterator[Any]:
        """Call `function` with each number from 0 to `total` - 1, yield the results in order, and report the progress."""
        for done, result in enumerate(workers.map(function, range(total)), 1):
            self.on_progress(phase_name, done, total)
            yield result

    def _classify_boards(self, workers: Executor) -> None:
        classify = make_board_classification_kernel()

        def classify_range(range_index: int) -> npt.NDArray[np.int64]:
            counts = np.zeros(2, np.int64)
            scratch = np.zeros(self._scratch_words, np.int64)
            classify(
                self._rules,
                scratch,
                self._codes,
                self._representative_bits,
                counts,
                *self._board_ranges[range_index],
            )
            return counts

        counts = np.array(
            list(self._map_with_progress(workers, "classify", classify_range, len(self._board_ranges)))
        )
        self._unfinished_count = int(counts[:, 0].sum())
        """Number of all unfinished boards, representative or not."""
        self._representative_ends = np.cumsum(counts[:, 1])
        """For each range in `_board_ranges`, the number of unfinished representative boards in it and in all earlier ranges."""
        undecided_position_numbers = np.zeros(
            int(self._representative_ends[-1]),
            np.uint32 if count_bytes_per_board_number(self.boards.board_count) == 4 else np.int64,
        )
        self._analysis = RetrogradeAnalysis(
            RISKLESS_SOLVER_GAME,
            self._rules,
            self._codes,
            undecided_position_numbers,
            [],
            self._scratch_words,
        )
        self._list_undecided_boards()

    def _list_undecided_boards(self) -> None:
        """Store the numbers of all unfinished boards to be solved, ascending: one of each set of symmetric positions."""
        gather = make_undecided_board_listing_kernel()
        undecided_starts = [0, *map(int, self._representative_ends[:-1])]
        for (first, last), undecided_start in zip(self._board_ranges, undecided_starts, strict=True):
            gather(
                self._representative_bits,
                self._analysis.undecided_position_numbers,
                first,
                last,
                undecided_start,
            )
        self._analysis.undecided_position_ranges = list(
            zip(undecided_starts, map(int, self._representative_ends), strict=True)
        )

    def _run_retrograde_analysis(self, workers: Executor) -> None:
        analysis = self._analysis
        is_finished = self._load_checkpoint(workers)
        last_save_time = time.monotonic()
        wait_seconds = self.checkpoint_interval_seconds
        while not is_finished:
            is_finished = self._run_next_iteration(workers) == 0 or analysis.undecided_position_count == 0
            if time.monotonic() - last_save_time >= wait_seconds:
                save_start_time = time.monotonic()
                self._save_checkpoint(is_finished=is_finished)
                last_save_time = time.monotonic()
                wait_seconds = max(self.checkpoint_interval_seconds, 10 * (last_save_time - save_start_time))

    def _run_next_iteration(self, workers: Executor) -> int:
        analysis = self._analysis
        total, done = len(analysis.undecided_position_ranges), 0

        def report_range_done() -> None:
            nonlocal done
            done += 1
            phase_name = (
                f"ply {analysis.solved_plies + 1}, {analysis.undecided_position_count:,} boards undecided"
            )
            self.on_progress(phase_name, done, total)

        return analysis.run_next_iteration(workers, report_range_done)

    def _save_checkpoint(self, *, is_finished: bool) -> None:
        codes = np.concatenate(
            [
                self._codes[self._list_representatives_of_range(index)]
                for index in range(len(self._board_ranges))
            ]
        )
        save_checkpoint(
            self.checkpoint_file,
            compute_boards_digest(self.boards),
            self._analysis.solved_plies,
            codes,
            is_finished=is_finished,
        )

    def _list_representatives_of_range(self, range_index: int) -> npt.NDArray[np.int64]:
        """Return the numbers of the unfinished representatives (one of each set of symmetric boards) in one range of boards.

        range_index  index of the range in `_board_ranges`, which divides the numbers of all boards
        """
        undecided_start = int(self._representative_ends[range_index - 1]) if range_index else 0
        numbers = np.zeros(int(self._representative_ends[range_index]) - undecided_start, np.int64)
        make_undecided_board_listing_kernel()(
            self._representative_bits, numbers, *self._board_ranges[range_index], 0
        )
        return numbers

    def _load_checkpoint(self, workers: Executor) -> bool:
        """Load the results of a checkpoint, if there is one. Return True if it has the values of all boards (positions)."""
        checkpoint = load_checkpoint(
            self.checkpoint_file, compute_boards_digest(self.boards), int(self._representative_ends[-1])
        )
        if checkpoint is None:
            return False
        self._analysis.solved_plies = checkpoint.solved_plies
        restore = make_checkpoint_restore_kernel()
        undecided_starts = [0, *map(int, self._representative_ends[:-1])]

        def restore_range(range_index: int) -> tuple[int, int]:
            undecided_start, scratch = undecided_starts[range_index], np.zeros(self._scratch_words, np.int64)
            layer = checkpoint.codes[undecided_start : int(self._representative_ends[range_index])]
            undecided_position_numbers = self._analysis.undecided_position_numbers
            return undecided_start, restore(
                self._rules,
                scratch,
                self._list_representatives_of_range(range_index),
                layer,
                self._codes,
                undecided_position_numbers,
                undecided_start,
            )

        self._analysis.undecided_position_ranges = list(
            self._map_with_progress(workers, "checkpoint", restore_range, len(self._board_ranges))
        )
        return checkpoint.is_finished

    def _make_header(self) -> TableHeader:
        counts = np.zeros(1 << 16, np.int64)
        for first, last in self._board_ranges:
            code_counts = np.bincount(self._codes[first:last])
            counts[: len(code_counts)] += code_counts
        # Codes 2 and 3 belong to finished boards.
        won, lost = int(counts[5::2].sum()), int(counts[4::2].sum())
        max_code = int(np.flatnonzero(counts)[-1])
        won_codes = np.flatnonzero(counts[5::2])
        longest = (2 * int(won_codes[-1]) + 5 - 3) // 2 if len(won_codes) else 0
        return TableHeader(
            neighbours=[list(near) for near in self.boards.neighbours],
            territory_cap=self.boards.territory_cap,
            armies_to_win=self.boards.armies_to_win,
            width=1 if max_code < 256 else 2,
            totals=BoardCounts(self._unfinished_count, won, lost, self._unfinished_count - won - lost),
            longest=longest,
            longest_board=self._find_first_board_with_code(2 * longest + 3) if longest else 0,
        )

    def _find_first_board_with_code(self, code: int) -> int:
        """Return the lowest number of a board (position) with this code (encoded value)."""
        for first, last in self._board_ranges:
            indices = np.flatnonzero(self._codes[first:last] == code)
            if len(indices):
                return first + int(indices[0])
        raise AssertionError("no position has the value of the longest win, although one was counted")

    def _pack_blocks(self, workers: Executor, header: TableHeader) -> Sequence[bytes]:
        level = SMALL_TABLE_ZSTD_LEVEL if header.block_count <= MAX_SMALL_TABLE_BLOCKS else TABLE_ZSTD_LEVEL
        code_type = np.uint8 if header.width == 1 else np.dtype("<u2")

        def pack_block(block_number: int) -> bytes:
            first = block_number * BOARDS_PER_BLOCK
            codes = self._codes[first : first + BOARDS_PER_BLOCK].astype(code_type)
            representative_bytes = self._representative_bits[first // 8 : (first + BOARDS_PER_BLOCK) // 8 + 1]
            is_representative = np.unpackbits(representative_bytes, bitorder="little")[: len(codes)]
            if not is_representative.any():
                return b""
            # Other boards get the code of the representative before them, which compresses to almost nothing.
            representative_indexes = np.maximum.accumulate(
                np.where(is_representative, np.arange(len(codes)), 0)
            )
            return zstd.compress(codes[representative_indexes].tobytes(), level)

        return list(self._map_with_progress(workers, "pack", pack_block, header.block_count))
