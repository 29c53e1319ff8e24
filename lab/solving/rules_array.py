"""Riskless map as an array of numbers for compiled code, and a function that decodes the number of a board (position).

`solved.board_numbers` describes the numbers of boards.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from arena.bots.compiled.cache import inlined
from arena.solved.board_numbers import BoardNumbering

Int64Array = npt.NDArray[np.int64]

(
    TERRITORY_COUNT,
    RADIX,
    CAP,
    GOAL,
    NEGATION_SUM,
    SYMMETRY_COUNT,
    ROADS_START,
    SYMMETRIES_START,
    PLACE_VALUES,
) = range(9)
"""Indices into the array that describes a map of V territories for compiled code. The array has at the index:

TERRITORY_COUNT   V
RADIX             base of the numbers of boards: a digit has 2 × cap + 1 values
CAP               maximum number of armies on a territory
GOAL              number of armies with which a player wins
NEGATION_SUM      sum of the numbers of a board and of the same board with all signs changed, which is equal for all boards
SYMMETRY_COUNT    number of symmetries of the map
ROADS_START       index at which the roads begin: V + 1 numbers, then the targets of all roads. Of the V + 1 numbers, those at
                  v and v + 1 say where the targets of territory v begin and end.
SYMMETRIES_START  index at which the symmetries begin. Each has V numbers: the place value of each territory's digit in the
                  number of the symmetric board.
PLACE_VALUES      place value of the first territory's digit; those of the other territories follow
"""


def make_rules_array(boards: BoardNumbering) -> Int64Array:
    """Return the map of `boards` (numbering of its positions) as the array that the solver's compiled functions read."""
    size = boards.territory_count
    degrees = [len(neighbours) for neighbours in boards.neighbours]
    road_starts = [sum(degrees[:territory]) for territory in range(size + 1)]
    targets = [neighbour for neighbours in boards.neighbours for neighbour in neighbours]
    images = [boards.place_values[place] for symmetry in boards.symmetries for place in symmetry]
    roads = PLACE_VALUES + size
    head = [
        size,
        boards.radix,
        boards.territory_cap,
        boards.armies_to_win,
        boards.board_count - 1,
        len(boards.symmetries),
    ]
    return np.array(
        [
            *head,
            roads,
            roads + size + 1 + len(targets),
            *boards.place_values,
            *road_starts,
            *targets,
            *images,
        ],
        np.int64,
    )


def count_scratch_words(boards: BoardNumbering) -> int:
    """Return the number of words in a thread's scratch array (working memory).

    The array holds the successors of a board (position), and the board's armies before and after training.
    """
    return sum(map(len, boards.neighbours)) + 2 * boards.territory_count


@inlined
def decode_board(rules: Int64Array, scratch: Int64Array, start_index: int, board_number: int) -> None:
    """Write the armies by territory of board (position) `board_number` to scratch[start_index], scratch[start_index + 1] …"""
    base = rules[RADIX]
    for territory in range(rules[TERRITORY_COUNT] - 1, -1, -1):
        quotient = board_number // base
        scratch[start_index + territory] = board_number - quotient * base - rules[CAP]
        board_number = quotient
