"""A digest of what the rules of a game do, by which two programs find out whether they play the same. Pure.

The same matches are played on both sides, by choices that follow from nothing but the rules themselves, and all
that shows of them goes into a SHA-256: who is to move, the legal moves in their order, how it ends. So another
comment, or a better estimate, makes no other rules, but one more column does.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from arena.games.core import Game, Plain

POSITIONS = 1000
"""Positions that are looked at in all; those of Connect Four take about 0.1 s."""
MATCHES = 24
LENGTH = 16
"""Characters of a digest: 64 bits, in hexadecimal."""


def digest_of(game: Game[Any, Any]) -> str:
    """The digest of a game on its setup. Raises whatever wrong rules raise.

    In every second match a move that ends it is left out where there is another, so that boards fill too.
    """
    told = sha256(_bytes([game.name, game.setup()]))
    left = POSITIONS
    for number in range(MATCHES):
        position = game.start()
        chance = number + 1
        while left > 0:
            left -= 1
            outcome = game.outcome(position)
            if outcome is not None:
                told.update(_bytes([outcome.winner, outcome.word]))
                break
            moves = game.moves(position)
            told.update(_bytes([game.player(position), [game.move_to_data(move) for move in moves]]))
            chance = (chance * 6364136223846793005 + 1442695040888963407) % 2**64
            position = _chosen(game, position, moves, chance >> 33, long=number % 2 == 1)
    return told.hexdigest()[:LENGTH]


def _chosen(game: Game[Any, Any], position: Any, moves: Any, chance: int, *, long: bool) -> Any:
    for step in range(len(moves) if long else 1):
        after = game.successor(position, moves[(chance + step) % len(moves)])
        if not long or game.outcome(after) is None:
            return after
    return game.successor(position, moves[chance % len(moves)])


def _bytes(data: Plain) -> bytes:
    return json.dumps(data, sort_keys=True, separators=(",", ":")).encode() + b"\n"
