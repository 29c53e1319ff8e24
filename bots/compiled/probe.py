"""The table of a solved map where a search can read it: the code of every board, unpacked, in one array of words.

A search that is truthful looks a leaf up before it estimates it. Where a player can force a win, the leaf is worth that
win, counted to the end of the match as one that the search has seen itself; a leaf that is truly drawn is estimated as ever,
so that among draws the search still prefers those that are hard to hold.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.bots.compiled.boards import rules_of, scratch_words, unpack
from arena.bots.compiled.cache import inlined, kernel
from arena.bots.compiled.intrinsics import get
from arena.bots.compiled.kernel import Kernel, Words
from arena.bots.compiled.layout import Option
from arena.bots.compiled.limits import table_bytes
from arena.bots.search.values import WIN
from arena.solved.table import Table
from arena.solved.truth import DRAWN_CODE, FIRST_CODE

UNKNOWN = -3_000_000
"""Below every value."""
WIDTH, CODES = 0, 8
"""Words of the array: the bits of a code, and where the codes begin, the first in the lowest bits."""
PART = 1 << 20
NOTHING = np.zeros(CODES, np.int64)


@lru_cache(maxsize=2)
def unpacked(table: Table, threads: int) -> Words:
    """The codes of all boards, those that look alike included; what stands for a board that is over says nothing.

    Some 50 ns of a core for each board. Raises solved.header.BadTable for a damaged block.
    """
    boards, width = table.boards, table.header.width
    kind = np.dtype(f"<u{width}")
    told = np.concatenate([np.frombuffer(table.block(number), kind) for number in range(table.header.blocks)])
    words = np.zeros(CODES + -(-table_bytes(table) // 8), np.dtype("<i8"))
    words[WIDTH] = 8 * width
    codes = words[CODES:].view(kind)
    rules = rules_of(boards)

    def fill(first: int) -> None:
        scratch = np.zeros(scratch_words(boards), np.int64)
        fill_kernel()(rules, scratch, told, codes, first, min(first + PART, boards.count))

    with ThreadPoolExecutor(threads, "unpack") as workers:
        list(workers.map(fill, range(0, boards.count, PART)))
    return words


@cache
def fill_kernel() -> Any:
    """Compiled: give each board the code of the one that stands for it."""

    def fill(rules: Any, scratch: Any, told: Any, codes: Any, first: Any, last: Any) -> None:
        size, base, cap, images = rules[0], rules[1], rules[2], rules[7]
        unpack(rules, scratch, 0, first)
        for number in range(first, last):
            lowest = number
            for image in range(images + size, images + rules[5] * size, size):
                place = rules[4] // 2
                for v in range(size):
                    place += scratch[v] * rules[image + v]
                lowest = min(lowest, place)
            codes[number] = told[lowest]
            v = size - 1
            scratch[v] += 1
            while scratch[v] > cap and v > 0:
                scratch[v] -= base
                v -= 1
                scratch[v] += 1

    return kernel(fill, "unpack-boards")


def make_look(game: Kernel, *, truthful: bool) -> Any:
    """look(shared, rules, truth, mem, at, distance): what the position at mem[at] is worth to its player to move.

    UNKNOWN where it is drawn, where both players have more territories than Option.PIECES, and in a search that is not
    truthful. The match is not over at `at`; `distance` is counted from the root. A win that takes more plies than are left
    of the match is a draw, and worth 0.
    """
    number, pieces = game.number, game.pieces
    if not truthful:

        @inlined
        def nothing(_shared: Any, _rules: Any, _truth: Any, _mem: Any, _at: Any, _distance: Any) -> Any:
            return UNKNOWN

        return nothing
    if number is None or pieces is None:
        raise ValueError(f"the kernel {game.name} tells no number of a board, so no table has it")

    @inlined
    def look(shared: Any, rules: Any, truth: Any, mem: Any, at: Any, distance: Any) -> Any:
        if pieces(rules, mem, at) > get(shared, Option.PIECES):
            return UNKNOWN
        place = number(rules, mem, at) * get(truth, WIDTH)
        code = (get(truth, CODES + (place >> 6)) >> (place & 63)) & ((1 << get(truth, WIDTH)) - 1)
        if code == DRAWN_CODE:
            return UNKNOWN
        plies = distance + ((code - FIRST_CODE) >> 1)
        if plies > get(shared, Option.PLIES_LEFT):
            return 0
        return WIN - plies if code & 1 else plies - WIN

    return look


def codes_of(words: Words) -> npt.NDArray[Any]:
    """The codes in an array that `unpacked` made, in the order of their numbers; the last few may be of no board."""
    return words[CODES:].view(np.dtype(f"<u{int(words[WIDTH]) // 8}"))
