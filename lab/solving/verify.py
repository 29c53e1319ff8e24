"""Independent verifier of a solved table, a file with the exact value of each board (position) of a map.

The verifier shares only the file format with the solver.

Of the boards that are symmetric to each other, the file has only one. The verifier computes the values of all boards
from the file, plays every move of every unfinished board by the rules of the game, and compares the value of each board
with the values of its successors. That proves the whole table: a win or a loss follows from values with fewer plies,
down to finished boards. A draw is right because each player can always move to another draw.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.bots.compiled.cache import inlined
from arena.lab.solving.kernels import compile_solver_kernel
from arena.solved.board_numbers import BoardNumbering, Permutation
from arena.solved.header import BoardCounts
from arena.solved.solved_table import SolvedTable

BOARDS_PER_VERIFIED_RANGE = 1 << 20
OPEN, WON, LOST, DRAWN, LONGEST_WIN = range(5)
"""Indices into the results of `check_codes`: numbers of unfinished, won, lost and drawn boards, and longest win in plies."""


@dataclass(frozen=True)
class CodeMismatch:
    """Board whose stored value is wrong, because it does not follow from the values of its successors."""

    armies: tuple[int, ...]
    stored_code: int
    """Code (encoded value) of the board (position) in the file."""
    correct_code: int
    """Correct code (encoded value) of the board (position), computed from the codes of its successors."""

    def __str__(self) -> str:
        return f"board {' '.join(map(str, self.armies))} is stored as {self.stored_code}, but its successors give {self.correct_code}"


@dataclass(frozen=True)
class Verification:
    """Result of verifying a solved table: numbers of won, drawn and lost positions, the longest win, and the table's errors."""

    board_counts: BoardCounts
    longest_win_plies: int
    code_mismatch: CodeMismatch | None
    """First board (position) with a wrong value; None if all values are correct."""
    header_errors: Sequence[str]
    """Errors in the header of the table's file, one sentence each."""

    @property
    def errors(self) -> list[str]:
        """Return a sentence for each error in the solved table; an empty list if the table is correct."""
        return [*([str(self.code_mismatch)] if self.code_mismatch is not None else []), *self.header_errors]


def verify_table(
    table: SolvedTable, thread_count: int, on_progress: Callable[[int, int], None]
) -> Verification:
    """Verify every board (position) of a solved table, and return the counts of boards and the errors found.

    on_progress  called with the number of finished parts of the work and the number of all parts

    Verification needs 3 bytes of memory per board, or 4 if codes have two bytes. Verification takes a few times as long as the
    solver takes for one ply. Raises solved.header.BadTable for a damaged block.
    """
    boards = table.numbering
    entries = _unpack_codes(table)
    codes = np.zeros(boards.board_count, np.uint16)
    rules = _make_rules_array(boards)
    ranges = [
        (first, min(first + BOARDS_PER_VERIFIED_RANGE, boards.board_count))
        for first in range(0, boards.board_count, BOARDS_PER_VERIFIED_RANGE)
    ]
    expand_codes_by_symmetry, check_codes = make_symmetry_expansion_kernel(), make_code_check_kernel()

    def expand_codes_of_range(board_range: tuple[int, int]) -> None:
        expand_codes_by_symmetry(
            rules, np.zeros(2 * boards.territory_count, np.int64), entries, codes, *board_range
        )

    def check_codes_of_range(board_range: tuple[int, int]) -> tuple[npt.NDArray[np.int64], Any]:
        counts = np.zeros(LONGEST_WIN + 1, np.int64)
        fault = check_codes(
            rules, np.zeros(3 * boards.territory_count, np.int64), codes, counts, *board_range
        )
        return counts, fault

    counts = np.zeros(LONGEST_WIN + 1, np.int64)
    fault = None
    with ThreadPoolExecutor(thread_count, "verify") as workers:
        for done, _ in enumerate(workers.map(expand_codes_of_range, ranges), 1):
            on_progress(done, 2 * len(ranges))
        for done, (histogram, mismatch) in enumerate(
            workers.map(check_codes_of_range, ranges), len(ranges) + 1
        ):
            on_progress(done, 2 * len(ranges))
            counts[:LONGEST_WIN] += histogram[:LONGEST_WIN]
            counts[LONGEST_WIN] = max(counts[LONGEST_WIN], histogram[LONGEST_WIN])
            if mismatch >= 0 and fault is None:
                number, correct_code = divmod(int(mismatch), 1 << 16)
                fault = CodeMismatch(boards.decode_board(number), int(codes[number]), correct_code)
    board_counts = BoardCounts(*(int(n) for n in counts[[OPEN, WON, LOST, DRAWN]]))
    return Verification(
        board_counts,
        int(counts[LONGEST_WIN]),
        fault,
        _find_wrong_header_fields(table, board_counts, int(counts[LONGEST_WIN])),
    )


def _find_wrong_header_fields(
    table: SolvedTable, board_counts: BoardCounts, longest_win_plies: int
) -> list[str]:
    header, boards = table.header, table.numbering
    statements = []
    if header.totals != board_counts:
        statements.append(f"the header has the totals {header.totals}, but the boards have {board_counts}")
    if header.longest != longest_win_plies:
        statements.append(
            f"the header has a longest win of {header.longest} plies, but the longest takes {longest_win_plies}"
        )
    statements += [
        f"{symmetry} is not an automorphism"
        for symmetry in boards.symmetries
        if not _is_automorphism(boards, symmetry)
    ]
    return statements


def _is_automorphism(boards: BoardNumbering, symmetry: Permutation) -> bool:
    roads = {
        (territory, neighbour)
        for territory, neighbours in enumerate(boards.neighbours)
        for neighbour in neighbours
    }
    return sorted(symmetry) == list(range(boards.territory_count)) and roads == {
        (symmetry[territory], symmetry[neighbour]) for territory, neighbour in roads
    }


def _unpack_codes(table: SolvedTable) -> npt.NDArray[Any]:
    header = table.header
    code_type = np.uint8 if header.width == 1 else np.dtype("<u2")
    codes = np.zeros(table.numbering.board_count, code_type)
    for number in range(header.block_count):
        first = number * header.boards_in_block
        codes[first : first + header.boards_in_block] = np.frombuffer(table.read_block(number), code_type)
    return codes


def _make_rules_array(boards: BoardNumbering) -> npt.NDArray[np.int64]:
    """Return the map of `boards` (numbering of its positions) as the array that the verifier's compiled functions read.

    The array holds the number of territories, the cap, the goal, the number of symmetries, the adjacency matrix and the
    symmetries.
    """
    size = boards.territory_count
    roads = [int(neighbour in neighbours) for neighbours in boards.neighbours for neighbour in range(size)]
    images = [place for symmetry in boards.symmetries for place in symmetry]
    return np.array(
        [size, boards.territory_cap, boards.armies_to_win, len(boards.symmetries), *roads, *images], np.int64
    )


@inlined
def read_board(
    rules: npt.NDArray[np.int64], scratch: npt.NDArray[np.int64], board_number: int
) -> tuple[int, int]:
    """Write the armies by territory of a board (position) to `scratch`. Return the totals of the mover and of the opponent."""
    size, cap = rules[0], rules[1]
    remaining_number = board_number
    own_armies, opponent_armies = 0, 0
    for territory in range(size - 1, -1, -1):
        scratch[territory] = remaining_number % (2 * cap + 1) - cap
        remaining_number //= 2 * cap + 1
        own_armies += max(scratch[territory], 0)
        opponent_armies += max(-scratch[territory], 0)
    return own_armies, opponent_armies


@cache
def make_symmetry_expansion_kernel() -> Callable[..., Any]:
    """Return the compiled function `expand_codes_by_symmetry`, which sets the code (encoded value) of every board (position).

    A finished board gets its code from the rules. Any other board gets the code of its representative, the only one of
    all boards symmetric to it that the file stores.
    """

    def expand_codes_by_symmetry(
        rules: Any, scratch: Any, entries: Any, codes: Any, first: Any, last: Any
    ) -> Any:
        size, cap, goal = rules[0], rules[1], rules[2]
        symmetries_start = 4 + size * size
        for number in range(first, last):
            own_armies, opponent_armies = read_board(rules, scratch, number)
            if own_armies == 0 or opponent_armies == 0 or own_armies >= goal or opponent_armies >= goal:
                own_goal_reached = opponent_armies == 0 or own_armies >= goal
                opponent_goal_reached = own_armies == 0 or opponent_armies >= goal
                code = 0
                if own_armies == 0 or opponent_armies == 0:
                    code = 0 if own_armies == opponent_armies else (3 if opponent_armies == 0 else 2)
                elif own_goal_reached != opponent_goal_reached:
                    code = 3 if own_goal_reached else 2
                codes[number] = code
                continue
            lowest_image = number
            for symmetry in range(rules[3]):
                for territory in range(size):
                    scratch[size + rules[symmetries_start + symmetry * size + territory]] = scratch[territory]
                image = 0
                for territory in range(size):
                    image = image * (2 * cap + 1) + scratch[size + territory] + cap
                lowest_image = min(lowest_image, image)
            codes[number] = entries[lowest_image]

    return compile_solver_kernel(expand_codes_by_symmetry, "verify-unfold")


@cache
def make_code_check_kernel() -> Callable[..., Any]:
    """Return the compiled function `check_codes`, which checks the codes (encoded values) of unfinished boards (positions).

    The function, compiled for the CPU, compares the code of each such board with the codes of the boards after one move.
    """

    def check_codes(rules: Any, scratch: Any, codes: Any, counts: Any, first: Any, last: Any) -> Any:
        """Check the stored codes (encoded values) of the unfinished boards in range(first, last) against their successors.

        Return -1 if all are correct; otherwise, for the first wrong board, its number << 16 | its correct code. Add the
        numbers of unfinished, won, lost and drawn boards to `counts`, which also holds the longest win, in plies.
        `scratch` is working memory.
        """
        size, cap, goal = rules[0], rules[1], rules[2]
        fault = -1
        for number in range(first, last):
            own_armies, opponent_armies = read_board(rules, scratch, number)
            if own_armies == 0 or opponent_armies == 0 or own_armies >= goal or opponent_armies >= goal:
                continue
            quickest_win, slowest_loss, drawing_moves = -1, -1, 0
            for source in range(size):
                if scratch[source] <= 0:
                    continue
                for target in range(size):
                    if rules[4 + source * size + target] == 0:
                        continue
                    # the rules of Riskless, sentence by sentence: the owner of each territory, and its armies
                    for territory in range(size):
                        scratch[size + territory] = (scratch[territory] > 0) - (scratch[territory] < 0)
                        scratch[2 * size + territory] = abs(scratch[territory])
                    armies = scratch[2 * size + source]
                    scratch[2 * size + source] = 0
                    if scratch[size + target] >= 0:
                        scratch[2 * size + target] += armies
                        scratch[size + target] = 1
                    elif armies >= scratch[2 * size + target]:
                        scratch[2 * size + target] = armies - scratch[2 * size + target]
                        scratch[size + target] = 1
                    else:
                        scratch[2 * size + target] -= armies
                    successor_number = 0
                    for territory in range(size):
                        trained = 0
                        if scratch[size + territory] != 0:
                            trained = min(scratch[2 * size + territory] + 1, cap)
                        # The opponent sees all signs changed.
                        successor_number = (
                            successor_number * (2 * cap + 1) + cap - scratch[size + territory] * trained
                        )
                    code = codes[successor_number]
                    if code < 2:
                        drawing_moves += 1
                    elif code % 2 == 0:
                        plies = (code - 2) // 2 + 1
                        if quickest_win < 0 or plies < quickest_win:
                            quickest_win = plies
                    else:
                        slowest_loss = max(slowest_loss, (code - 3) // 2 + 1)
            correct_code = 0
            counts[OPEN] += 1
            if quickest_win >= 0:
                correct_code = 2 * quickest_win + 3
                counts[WON] += 1
                counts[LONGEST_WIN] = max(counts[LONGEST_WIN], quickest_win)
            elif drawing_moves == 0:
                correct_code = 2 * slowest_loss + 2
                counts[LOST] += 1
            else:
                counts[DRAWN] += 1
            if codes[number] != correct_code and fault < 0:
                fault = number * 65536 + correct_code
        return fault

    return compile_solver_kernel(check_codes, "verify-check")
