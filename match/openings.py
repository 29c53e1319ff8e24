"""Openings: prescribed first moves of a match, which the players do not choose."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from arena.games.core import Game, M, P
from arena.protocol.values import Opening, PlainData

MAX_OPENING_PLIES = 100
"""Maximum number of random plies of an opening."""


def make_random_opening(game: Game[P, M], ply_count: int, seed: str) -> Opening:
    """Return an opening of `ply_count` random moves; fewer if every further move would end the game.

    seed  text from which the moves are derived; the same text gives the same opening on every machine
    """
    position = game.start()
    moves: list[PlainData] = []
    for ply in range(ply_count):
        continuing_moves = [
            (move, position_after)
            for move in game.moves(position)
            if game.outcome(position_after := game.successor(position, move)) is None
        ]
        if not continuing_moves:
            break
        # A digest instead of `random` is the same in every version of Python, so that an event can be resumed.
        number = int.from_bytes(hashlib.sha256(f"{seed}/{ply}".encode()).digest()[:8])
        move, position = continuing_moves[number % len(continuing_moves)]
        moves.append(game.move_to_data(move))
    return tuple(moves)


def list_positions(game: Game[P, M], moves: Iterable[PlainData]) -> list[P]:
    """Return the start of a game and the position after each of `moves`. Raises games.core.GameError for an illegal move."""
    positions = [game.start()]
    for move in moves:
        positions.append(game.play(positions[-1], game.move_from_data(move)))
    return positions


def find_position_after(game: Game[P, M], moves: Iterable[PlainData]) -> P:
    """Return the position after `moves` from the start of a game. Raises games.core.GameError for an illegal move."""
    return list_positions(game, moves)[-1]
