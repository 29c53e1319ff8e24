"""Match of Riskless on the map `m2` that all benchmark bots play: always the same moves, so they need no time to think."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

from arena.maps.game_on_map import make_game_on_map
from arena.protocol.codec import encode_message
from arena.protocol.messages import Accepted, Turn
from arena.protocol.values import Clocks, PlainData

SCRIPTED_MATCH_GAME, SCRIPTED_MATCH_MAP = "riskless", "m2"
ALLOWED_SCRIPTED_MATCH_PLIES = range(80, 121)
"""Allowed lengths, in plies, of the match that the bots play: about as long as matches between engines on the map `m2`."""
SAMPLE_MATCH_ID = "0" * 32
"""Id that stands for a match in the messages whose size is measured."""


@cache
def make_scripted_moves() -> list[PlainData]:
    """Return the moves of the match that simulated bots play, as data for the protocol's messages.

    The match is the first of the random matches with the seeds 0, 1, 2 … whose length is in ALLOWED_SCRIPTED_MATCH_PLIES.
    """
    game: Any = make_game_on_map(SCRIPTED_MATCH_GAME, SCRIPTED_MATCH_MAP)
    for seed in range(10_000):
        rng, position = random.Random(seed), game.start()
        moves: list[PlainData] = []
        while game.outcome(position) is None and len(moves) <= ALLOWED_SCRIPTED_MATCH_PLIES.stop:
            move = rng.choice(game.moves(position))
            moves.append(game.move_to_data(move))
            position = game.play(position, move)
        if len(moves) in ALLOWED_SCRIPTED_MATCH_PLIES:
            return moves
    raise RuntimeError(
        f"no random match has {ALLOWED_SCRIPTED_MATCH_PLIES.start} to {ALLOWED_SCRIPTED_MATCH_PLIES.stop - 1} plies"
    )


@cache
def make_long_match_moves() -> list[PlainData]:
    """Return the moves of a long match, as data for the protocol's messages. Both players always make the first legal move."""
    game: Any = make_game_on_map(SCRIPTED_MATCH_GAME, SCRIPTED_MATCH_MAP)
    position, moves = game.start(), list[PlainData]()
    while game.outcome(position) is None:
        move = game.moves(position)[0]
        moves.append(game.move_to_data(move))
        position = game.play(position, move)
    return moves


def measure_message_sizes() -> tuple[int, int]:
    """Return the mean sizes in bytes of the two messages that follow a move, over all moves of the scripted match.

    The messages are `accepted` to the move's player, and `turn` to the other player.
    """
    moves = make_scripted_moves()
    accepted_sizes = [
        len(encode_message(Accepted(SAMPLE_MATCH_ID, ply, 0.2, 60_000))) for ply in range(len(moves))
    ]
    turn_sizes = [
        len(encode_message(Turn(SAMPLE_MATCH_ID, ply, moves[:ply], Clocks(60_000, 60_000), 1000)))
        for ply in range(len(moves))
    ]
    return sum(accepted_sizes) // len(moves), sum(turn_sizes) // len(moves)
