"""The game of capitals.py for the compiled search engines, on maps of up to 64 territories: `--game capitals_kernel.py`.

Larger maps are searched in Python. A position has 33 words: 16 for the armies of the player to move, 16 for the
opponent's armies, and one with both capitals. A word holds the armies of four territories in 16 bits each, so that a few
operations add armies to four territories at once.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import capitals
import numpy as np

from arena import DRAW, LOST, PLAYING, WON, CompiledGame, Kernel, get, inlined, lowest_bit, popcount, put

MAX_TERRITORIES = 64
WORDS_PER_SIDE = MAX_TERRITORIES // 4
CAPITALS_WORD_INDEX = 2 * WORDS_PER_SIDE
ONE_IN_EACH_TERRITORY = 0x0001_0001_0001_0001
MAX_ARMIES = 0x7FFF
"""Largest number of armies that the 16 bits of a territory can hold."""
GATHER_BITS_FACTOR = 1 << 48 | 1 << 33 | 1 << 18 | 1 << 3
"""Factor that gathers four bits of a word: the product has the word's bits 0, 16, 32 and 48 as its bits 48 to 51."""
CAP, OVER, GOAL, ROWS, GARRISON, CATCH_UP, TERRITORY = range(7)
ROAD_OFFSETS_START = 7
NEIGHBOUR_SETS_START = ROAD_OFFSETS_START + MAX_TERRITORIES + 1
ROAD_ENDS_START = NEIGHBOUR_SETS_START + MAX_TERRITORIES
"""Indices into the array `rules`, which holds the map and constants for the compiled code:

CAP, GOAL                        maximum number of armies on a territory, and number of armies that wins
OVER                             number that is added to a word, to set the top bit of each territory whose armies exceed CAP
ROWS                             number of words in use for the armies of each player
GARRISON, CATCH_UP, TERRITORY    constants of capitals.py
ROAD_OFFSETS_START               index from which on the number of each territory's first road is stored
NEIGHBOUR_SETS_START             index from which on each territory's set of neighbours is stored, as bits
ROAD_ENDS_START                  index from which on each road's source and target are stored
"""


class CompiledCapitals(capitals.Capitals):
    def compiled(self) -> CompiledGame | None:
        return _compile(self) if self.map.territory_count <= MAX_TERRITORIES else None


def _compile(game: capitals.Capitals) -> CompiledGame:
    map = game.map
    roads = [(v, w) for v, near in enumerate(map.neighbours) for w in near]
    numbers = {road: number for number, road in enumerate(roads)}
    rules = np.zeros(ROAD_ENDS_START + 2 * len(roads), np.int64)
    rules[:ROAD_OFFSETS_START] = (
        map.territory_cap,
        (MAX_ARMIES - map.territory_cap) * ONE_IN_EACH_TERRITORY,
        map.armies_to_win,
        -(-map.territory_count // 4),
        capitals.GARRISON_ARMIES,
        capitals.CATCH_UP_ARMIES_PER_TERRITORY,
        capitals.TERRITORY_VALUE_ARMIES,
    )
    rules[ROAD_OFFSETS_START:NEIGHBOUR_SETS_START] = len(roads)
    rules[ROAD_ENDS_START:] = [v for road in roads for v in road]
    for v, near in enumerate(map.neighbours):
        rules[ROAD_OFFSETS_START + v] = numbers[v, near[0]]
        rules[NEIGHBOUR_SETS_START + v] = np.uint64(sum(1 << w for w in near)).view(np.int64)

    def pack(position: Any) -> Any:
        words = np.zeros(CAPITALS_WORD_INDEX + 1, np.int64)
        for v, n in enumerate(position.armies):
            side = WORDS_PER_SIDE if n * position.player.sign < 0 else 0
            words[side + v // 4] += abs(n) << 16 * (v % 4)
        own, foe = game.capitals[position.player], game.capitals[position.player.opponent]
        words[CAPITALS_WORD_INDEX] = own | foe << 8
        return words

    return CompiledGame(
        make_kernel(),
        rules,
        len(roads),
        pack,
        lambda position: map.ply_limit - position.ply,
        roads.__getitem__,
        numbers.__getitem__,
    )


@cache
def make_kernel() -> Kernel:
    """Return the functions of Capitals for compiled searches: legal moves, position after a move, outcome, estimate."""

    @inlined
    def get_armies(mem: Any, side: Any, territory: Any) -> Any:
        return (get(mem, side + (territory >> 2)) >> (16 * (territory & 3))) & MAX_ARMIES

    @inlined
    def set_armies(mem: Any, side: Any, territory: Any, armies: Any) -> None:
        shift = 16 * (territory & 3)
        rest = get(mem, side + (territory >> 2)) & ~(MAX_ARMIES << shift)
        put(mem, side + (territory >> 2), rest | (armies << shift))

    @inlined
    def get_occupied_mask(packed_armies: Any) -> Any:
        """Return four 16-bit fields, one per territory: 1 if the territory has armies in `packed_armies`, else 0."""
        return ((packed_armies + MAX_ARMIES * ONE_IN_EACH_TERRITORY) >> 15) & ONE_IN_EACH_TERRITORY

    @inlined
    def train_armies(rules: Any, packed_armies: Any) -> Any:
        more = packed_armies + get_occupied_mask(packed_armies)
        return more - (((more + get(rules, OVER)) >> 15) & ONE_IN_EACH_TERRITORY)

    @inlined
    def sum_armies(rules: Any, mem: Any, side: Any) -> Any:
        # Not by one multiplication: the sum of four territories may exceed 16 bits.
        count = 0
        for row in range(get(rules, ROWS)):
            word = get(mem, side + row)
            count += (word & 0xFFFF) + ((word >> 16) & 0xFFFF) + ((word >> 32) & 0xFFFF) + (word >> 48)
        return count

    @inlined
    def find_territories(rules: Any, mem: Any, side: Any) -> Any:
        """Return the territories of the side whose armies begin at mem[side], as bits: bit n is 1 for territory n."""
        found = 0
        for row in range(get(rules, ROWS)):
            found |= (((get_occupied_mask(get(mem, side + row)) * GATHER_BITS_FACTOR) >> 48) & 15) << (
                4 * row
            )
        return found

    @inlined
    def moves(rules: Any, mem: Any, pos: Any, out: Any) -> Any:
        count = 0
        left = find_territories(rules, mem, pos)
        while left != 0:
            v = lowest_bit(left)
            left &= left - 1
            for road in range(get(rules, ROAD_OFFSETS_START + v), get(rules, ROAD_OFFSETS_START + v + 1)):
                put(mem, out + count, road)
                count += 1
        return count

    @inlined
    def add_garrison(rules: Any, mem: Any, side: Any, capital: Any, territory_deficit: Any) -> None:
        own = get_armies(mem, side, capital)
        if own > 0:
            more = own + get(rules, GARRISON) + get(rules, CATCH_UP) * territory_deficit
            set_armies(mem, side, capital, min(more, get(rules, CAP)))

    @inlined
    def play(rules: Any, mem: Any, pos: Any, out: Any, move: Any) -> None:
        source = get(rules, ROAD_ENDS_START + 2 * move)
        target = get(rules, ROAD_ENDS_START + 2 * move + 1)
        cap = get(rules, CAP)
        others = out + WORDS_PER_SIDE  # the mover's armies: the position is seen by the opponent
        for row in range(get(rules, ROWS)):
            put(mem, others + row, train_armies(rules, get(mem, pos + row)))
            put(mem, out + row, train_armies(rules, get(mem, pos + WORDS_PER_SIDE + row)))
        left = (
            get_armies(mem, pos, source)
            + get_armies(mem, pos, target)
            - get_armies(mem, pos + WORDS_PER_SIDE, target)
        )
        set_armies(mem, others, source, 1)
        set_armies(mem, others, target, min(left + 1, cap) if left >= 0 else 0)
        set_armies(mem, out, target, min(1 - left, cap) if left < 0 else 0)
        own = get(mem, pos + CAPITALS_WORD_INDEX) & 255
        foe = get(mem, pos + CAPITALS_WORD_INDEX) >> 8
        territory_deficit = popcount(find_territories(rules, mem, out)) - popcount(
            find_territories(rules, mem, others)
        )
        add_garrison(rules, mem, others, own, max(territory_deficit, 0))
        add_garrison(rules, mem, out, foe, 0)
        put(mem, out + CAPITALS_WORD_INDEX, foe | (own << 8))

    @inlined
    def status(rules: Any, mem: Any, pos: Any) -> Any:
        if get_armies(mem, pos + WORDS_PER_SIDE, get(mem, pos + CAPITALS_WORD_INDEX) & 255) > 0:
            return LOST
        if get_armies(mem, pos, get(mem, pos + CAPITALS_WORD_INDEX) >> 8) > 0:
            return WON
        mine = sum_armies(rules, mem, pos)
        others = sum_armies(rules, mem, pos + WORDS_PER_SIDE)
        goal = get(rules, GOAL)
        if mine == 0:
            return LOST
        if others == 0:
            return WON
        if mine < goal and others < goal:
            return PLAYING
        if mine == others:
            return DRAW
        return WON if mine > others else LOST

    @inlined
    def estimate_side(rules: Any, mem: Any, side: Any, own: Any, foe: Any) -> Any:
        """Return the estimated worth of one side, in armies.

        side      index in `mem` at which the armies of this side begin
        own, foe  territories of this side and of the other side, as bits
        """
        border = 0
        left = own
        while left != 0:
            v = lowest_bit(left)
            left &= left - 1
            if get(rules, NEIGHBOUR_SETS_START + v) & foe != 0:
                border += get_armies(mem, side, v)
        return sum_armies(rules, mem, side) + (border >> 1) + get(rules, TERRITORY) * popcount(own)

    @inlined
    def estimate(rules: Any, mem: Any, pos: Any) -> Any:
        own = find_territories(rules, mem, pos)
        foe = find_territories(rules, mem, pos + WORDS_PER_SIDE)
        return 100 * (
            estimate_side(rules, mem, pos, own, foe)
            - estimate_side(rules, mem, pos + WORDS_PER_SIDE, foe, own)
        )

    @inlined
    def score_move(rules: Any, mem: Any, pos: Any, move: Any) -> Any:
        source = get(rules, ROAD_ENDS_START + 2 * move)
        target = get(rules, ROAD_ENDS_START + 2 * move + 1)
        here = get_armies(mem, pos, source)
        foes = get_armies(mem, pos + WORDS_PER_SIDE, target)
        if foes > here:
            return -here
        if foes > 0:
            return 100_000 if target == get(mem, pos + CAPITALS_WORD_INDEX) >> 8 else 200 + foes
        return 0 if get_armies(mem, pos, target) > 0 else 100

    return Kernel(
        "capitals",
        CAPITALS_WORD_INDEX + 1,
        CAPITALS_WORD_INDEX + 1,
        moves,
        play,
        status,
        estimate,
        score_move,
    )


__all__ = ["CompiledCapitals"]
