"""The game of capitals.py for the compiled searches, on maps of up to 64 territories: `--game capitals_kernel.py`.

On larger maps, it is searched in Python. A position has 33 words: 16 for the armies of the player to move, 16 for the
opponent's armies, and one with both capitals. A word holds four territories of 16 bits each, so that a few
operations train four territories at once.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import capitals
import numpy as np

from arena import DRAW, LOST, PLAYING, WON, CompiledGame, Kernel, get, inlined, lowest_bit, popcount, put

MOST = 64
SIDE = MOST // 4
CAPITALS = 2 * SIDE
ONES = 0x0001_0001_0001_0001
HIGHEST = 0x7FFF
"""Largest number of armies that the 16 bits of a territory can hold."""
GATHER = 1 << 48 | 1 << 33 | 1 << 18 | 1 << 3
"""Factor of a multiplication that moves the lowest bits of a word's four territories to the word's bits 48 to 51."""
CAP, OVER, GOAL, ROWS, GARRISON, CATCH_UP, TERRITORY = range(7)
FIRST = 7
NEAR = FIRST + MOST + 1
ROADS = NEAR + MOST
"""Indices into the array `rules`, which holds the map and the constants for compiled code.

GARRISON, CATCH_UP and TERRITORY hold the constants of capitals.py. Three indices begin a longer part of the array:

FIRST  for each territory, the number of its first road
NEAR   for each territory, the set of its neighbours as bits
ROADS  for each road, its source and its target
"""


class CompiledCapitals(capitals.Capitals):
    def compiled(self) -> CompiledGame | None:
        return _compile(self) if self.map.size <= MOST else None


def _compile(game: capitals.Capitals) -> CompiledGame:
    map = game.map
    roads = [(v, w) for v, near in enumerate(map.neighbours) for w in near]
    numbers = {road: number for number, road in enumerate(roads)}
    rules = np.zeros(ROADS + 2 * len(roads), np.int64)
    rules[:FIRST] = (
        map.territory_cap,
        (HIGHEST - map.territory_cap) * ONES,
        map.armies_to_win,
        -(-map.size // 4),
        capitals.GARRISON,
        capitals.CATCH_UP,
        capitals.TERRITORY,
    )
    rules[FIRST:NEAR] = len(roads)
    rules[ROADS:] = [v for road in roads for v in road]
    for v, near in enumerate(map.neighbours):
        rules[FIRST + v] = numbers[v, near[0]]
        rules[NEAR + v] = np.uint64(sum(1 << w for w in near)).view(np.int64)

    def pack(position: Any) -> Any:
        words = np.zeros(CAPITALS + 1, np.int64)
        for v, n in enumerate(position.armies):
            side = SIDE if n * position.player.sign < 0 else 0
            words[side + v // 4] += abs(n) << 16 * (v % 4)
        own, foe = game.capitals[position.player], game.capitals[position.player.opponent]
        words[CAPITALS] = own | foe << 8
        return words

    return CompiledGame(
        kernel(),
        rules,
        len(roads),
        pack,
        lambda position: map.ply_limit - position.ply,
        roads.__getitem__,
        numbers.__getitem__,
    )


@cache
def kernel() -> Kernel:
    """Return the functions of Capitals for compiled searches: its moves, how to play one, its ends and its estimate."""

    @inlined
    def armies(mem: Any, side: Any, v: Any) -> Any:
        return (get(mem, side + (v >> 2)) >> (16 * (v & 3))) & HIGHEST

    @inlined
    def put_armies(mem: Any, side: Any, v: Any, number: Any) -> None:
        shift = 16 * (v & 3)
        rest = get(mem, side + (v >> 2)) & ~(HIGHEST << shift)
        put(mem, side + (v >> 2), rest | (number << shift))

    @inlined
    def occupied(word: Any) -> Any:
        """Return a word whose 16 bits for each territory are 1 if `word` has armies there, and 0 otherwise."""
        return ((word + HIGHEST * ONES) >> 15) & ONES

    @inlined
    def trained(rules: Any, word: Any) -> Any:
        more = word + occupied(word)
        return more - (((more + get(rules, OVER)) >> 15) & ONES)

    @inlined
    def total(rules: Any, mem: Any, side: Any) -> Any:
        # Not by one multiplication: the sum of four territories may exceed 16 bits.
        count = 0
        for row in range(get(rules, ROWS)):
            word = get(mem, side + row)
            count += (word & 0xFFFF) + ((word >> 16) & 0xFFFF) + ((word >> 32) & 0xFFFF) + (word >> 48)
        return count

    @inlined
    def territories(rules: Any, mem: Any, side: Any) -> Any:
        """Return the set of one side's territories as bits: bit n is 1 if territory n is the side's."""
        found = 0
        for row in range(get(rules, ROWS)):
            found |= (((occupied(get(mem, side + row)) * GATHER) >> 48) & 15) << (4 * row)
        return found

    @inlined
    def moves(rules: Any, mem: Any, pos: Any, out: Any) -> Any:
        count = 0
        left = territories(rules, mem, pos)
        while left != 0:
            v = lowest_bit(left)
            left &= left - 1
            for road in range(get(rules, FIRST + v), get(rules, FIRST + v + 1)):
                put(mem, out + count, road)
                count += 1
        return count

    @inlined
    def guard(rules: Any, mem: Any, side: Any, capital: Any, behind: Any) -> None:
        own = armies(mem, side, capital)
        if own > 0:
            more = own + get(rules, GARRISON) + get(rules, CATCH_UP) * behind
            put_armies(mem, side, capital, min(more, get(rules, CAP)))

    @inlined
    def play(rules: Any, mem: Any, pos: Any, out: Any, move: Any) -> None:
        source = get(rules, ROADS + 2 * move)
        target = get(rules, ROADS + 2 * move + 1)
        cap = get(rules, CAP)
        others = out + SIDE  # the mover's armies: the position is seen by the opponent
        for row in range(get(rules, ROWS)):
            put(mem, others + row, trained(rules, get(mem, pos + row)))
            put(mem, out + row, trained(rules, get(mem, pos + SIDE + row)))
        left = armies(mem, pos, source) + armies(mem, pos, target) - armies(mem, pos + SIDE, target)
        put_armies(mem, others, source, 1)
        put_armies(mem, others, target, min(left + 1, cap) if left >= 0 else 0)
        put_armies(mem, out, target, min(1 - left, cap) if left < 0 else 0)
        own = get(mem, pos + CAPITALS) & 255
        foe = get(mem, pos + CAPITALS) >> 8
        behind = popcount(territories(rules, mem, out)) - popcount(territories(rules, mem, others))
        guard(rules, mem, others, own, max(behind, 0))
        guard(rules, mem, out, foe, 0)
        put(mem, out + CAPITALS, foe | (own << 8))

    @inlined
    def status(rules: Any, mem: Any, pos: Any) -> Any:
        if armies(mem, pos + SIDE, get(mem, pos + CAPITALS) & 255) > 0:
            return LOST
        if armies(mem, pos, get(mem, pos + CAPITALS) >> 8) > 0:
            return WON
        mine = total(rules, mem, pos)
        others = total(rules, mem, pos + SIDE)
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
    def worth(rules: Any, mem: Any, side: Any, own: Any, foe: Any) -> Any:
        """Return the estimated worth of one side's armies; `own` and `foe` are its and the enemy's territories as bits."""
        border = 0
        left = own
        while left != 0:
            v = lowest_bit(left)
            left &= left - 1
            if get(rules, NEAR + v) & foe != 0:
                border += armies(mem, side, v)
        return total(rules, mem, side) + (border >> 1) + get(rules, TERRITORY) * popcount(own)

    @inlined
    def estimate(rules: Any, mem: Any, pos: Any) -> Any:
        own = territories(rules, mem, pos)
        foe = territories(rules, mem, pos + SIDE)
        return 100 * (worth(rules, mem, pos, own, foe) - worth(rules, mem, pos + SIDE, foe, own))

    @inlined
    def promise(rules: Any, mem: Any, pos: Any, move: Any) -> Any:
        source = get(rules, ROADS + 2 * move)
        target = get(rules, ROADS + 2 * move + 1)
        here = armies(mem, pos, source)
        foes = armies(mem, pos + SIDE, target)
        if foes > here:
            return -here
        if foes > 0:
            return 100_000 if target == get(mem, pos + CAPITALS) >> 8 else 200 + foes
        return 0 if armies(mem, pos, target) > 0 else 100

    return Kernel("capitals", CAPITALS + 1, CAPITALS + 1, moves, play, status, estimate, promise)


__all__ = ["CompiledCapitals"]
