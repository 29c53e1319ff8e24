"""Digest (hash) of a game's rules, by which two programs can tell whether they play the same game.

Both programs play the same matches, because a fixed rule chooses the moves. The digest is the first 64 bits of a SHA-256 of
everything visible in these matches: the player to move, the legal moves in order, and the outcome. A changed comment or
estimate leaves the digest unchanged; a board with one more column changes it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

from arena.games.core import Game, PlainData

MAX_DIGESTED_POSITIONS = 1000
"""Maximum number of positions, in all matches together, from which the digest (hash) of a game's rules is computed.

Computing the digest from 1,000 positions of Connect Four takes about 0.1 s.
"""
MAX_DIGESTED_MATCHES = 24
"""Maximum number of matches played for a digest (hash) of a game's rules. MAX_DIGESTED_POSITIONS cuts off the last match."""
DIGEST_HEX_DIGITS = 16
"""Length of the digest (hash) of a game's rules, in hexadecimal characters (64 bits)."""


def compute_rules_digest(game: Game[Any, Any]) -> str:
    """Return the digest (hash) of the rules of `game` with its parameters (`setup`). Propagates exceptions of faulty rules.

    The digest is computed from matches that every program plays in the same way. In every second match, moves that end
    the match are avoided if possible, so that the digest also depends on late positions.
    """
    digest = sha256(_encode_plain_data([game.name, game.setup()]))
    positions_left = MAX_DIGESTED_POSITIONS
    for match_number in range(MAX_DIGESTED_MATCHES):
        position = game.start()
        choose_index = make_seeded_index_chooser(match_number + 1)
        while positions_left > 0:
            positions_left -= 1
            outcome = game.outcome(position)
            if outcome is not None:
                digest.update(_encode_plain_data([outcome.winner, outcome.reason_code]))
                break
            moves = game.moves(position)
            digest.update(
                _encode_plain_data([game.player(position), [game.move_to_data(move) for move in moves]])
            )
            avoids_end = match_number % 2 == 1
            position = _choose_successor(
                game, position, moves, choose_index(len(moves)), avoids_end=avoids_end
            )
    return digest.hexdigest()[:DIGEST_HEX_DIGITS]


def make_seeded_index_chooser(seed: int) -> Callable[[int], int]:
    """Return a function `choose_index`: `choose_index(n)` returns a pseudo-random number from 0 to n - 1.

    The sequence of its numbers depends only on `seed`, and is the same on every machine.
    """
    state = seed

    def choose_index(count: int) -> int:
        """Return the next number of a linear congruential generator, from 0 to `count` - 1."""
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (state >> 33) % count

    return choose_index


def _choose_successor(
    game: Game[Any, Any], position: Any, moves: Sequence[Any], chosen_index: int, *, avoids_end: bool
) -> Any:
    """Return the position after the move with the index `chosen_index`.

    If `avoids_end` is True and this move ends the match, choose the next move in the list that does not, going on from
    the last move to the first. If every move ends the match, keep the move `chosen_index`.
    """
    for step in range(len(moves) if avoids_end else 1):
        position_after = game.successor(position, moves[(chosen_index + step) % len(moves)])
        if not avoids_end or game.outcome(position_after) is None:
            return position_after
    return game.successor(position, moves[chosen_index])


def _encode_plain_data(data: PlainData) -> bytes:
    return json.dumps(data, sort_keys=True, separators=(",", ":")).encode() + b"\n"
