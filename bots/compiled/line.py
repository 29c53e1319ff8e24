"""The main line of a search, read from the transposition table."""

from __future__ import annotations

from functools import cache
from typing import Any

from arena.bots.compiled.cache import kernel
from arena.bots.compiled.intrinsics import get, put
from arena.bots.compiled.kernel import PLAYING, Kernel
from arena.bots.compiled.layout import FIRST, Option, Register, Sizes
from arena.bots.compiled.table import EXACT, bound_of, make_hash, move_of, probe, salted


@cache
def make_line(game: Kernel) -> Any:
    """line(mem, shared, rules, table, best, depth, found): moves from the root on into `found`; how many.

    `best` is the root's move. The line goes on as long as the table knows the exact value to the depth
    that is left.
    """
    frame_words = Sizes(game.words, 0).frame
    moves, play, status = game.moves, game.play, game.status
    hash_of = make_hash(game.key_words)

    def line(mem: Any, shared: Any, rules: Any, table: Any, best: Any, depth: Any, found: Any) -> Any:
        at = FIRST
        move = best
        length = 0
        list_at = get(mem, Register.LISTS)
        for distance in range(depth):
            count = moves(rules, mem, at, list_at)
            legal = False
            for i in range(count):
                legal |= get(mem, list_at + i) == move
            if not legal:
                break
            put(found, distance, move)
            length += 1
            play(rules, mem, at, at + frame_words, move)
            at += frame_words
            left = get(shared, Option.PLIES_LEFT) - distance - 1
            if status(rules, mem, at) != PLAYING or left <= 0:
                break
            key = hash_of(mem, at)
            if depth - distance - 1 + get(shared, Option.BEYOND) >= left:
                key = salted(key, left)
            data = probe(table, get(shared, Option.TABLE_MASK), key)
            if data == 0 or bound_of(data) != EXACT:
                break
            move = move_of(data)
        return length

    return kernel(line, f"line-{game.name}")
