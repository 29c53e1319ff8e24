"""The boards of a Riskless map by their numbers (solved.boards), for compiled code.

The number of a board is a sum of digits, one a territory: the armies of the player to move count as positive.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from arena.bots.compiled.cache import inlined
from arena.solved.boards import Boards

Words = npt.NDArray[np.int64]

TERRITORIES, BASE, CAP, GOAL, TURNED, SYMMETRIES, ROADS, IMAGES, POWERS = range(9)
"""The head of the rules: sizes, where the roads and the images begin; the powers, one a territory, end it.

ROADS    V + 1 places in the list of targets, then that list
IMAGES   for each symmetry V powers: what a digit of a territory counts in the image
TURNED   the number of a board and that of the same one with all signs turned add up to it
"""


def rules_of(boards: Boards) -> Words:
    """What the functions read."""
    size = boards.territories
    degrees = [len(near) for near in boards.neighbours]
    firsts = [sum(degrees[:v]) for v in range(size + 1)]
    targets = [w for near in boards.neighbours for w in near]
    images = [boards.powers[place] for symmetry in boards.symmetries for place in symmetry]
    roads = POWERS + size
    head = [size, boards.base, boards.cap, boards.goal, boards.count - 1, len(boards.symmetries)]
    return np.array(
        [*head, roads, roads + size + 1 + len(targets), *boards.powers, *firsts, *targets, *images], np.int64
    )


def scratch_words(boards: Boards) -> int:
    """The words of memory that a thread needs: the successors, the armies before and after training."""
    return sum(map(len, boards.neighbours)) + 2 * boards.territories


@inlined
def unpack(rules: Any, scratch: Any, to: Any, number: Any) -> None:
    """Write the armies of a board to scratch[to] …."""
    base = rules[BASE]
    for v in range(rules[TERRITORIES] - 1, -1, -1):
        rest = number // base
        scratch[to + v] = number - rest * base - rules[CAP]
        number = rest
