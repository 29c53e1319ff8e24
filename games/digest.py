"""Digest of a game's rules, by which two programs can tell whether they play the same game. Pure.

Both programs play the same matches, whose moves are chosen by a fixed rule. The digest is a SHA-256 of everything
visible in these matches: the player to move, the legal moves in order, the outcome. A changed comment or another
estimate leaves the digest unchanged; a board with one more column changes it.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from arena.games.core import Game, Plain

MAX_POSITIONS = 1000
"""Number of positions examined in total; for Connect Four this takes about 0.1 s."""
MAX_MATCHES = 24
"""Maximum number of matches that are played; fewer if they reach MAX_POSITIONS first."""
DIGEST_LENGTH = 16
"""Length of a digest, in hexadecimal characters (64 bits)."""


def compute_rules_digest(game: Game[Any, Any]) -> str:
    """Return the digest of a game's rules on its setup. Propagates exceptions raised by faulty rules.

    The digest is computed from matches that every program plays in the same way. Every second match avoids, if possible,
    moves that end the match, so that boards fill up too.
    """
    digest = sha256(_to_bytes([game.name, game.setup()]))
    positions_left = MAX_POSITIONS
    for match_number in range(MAX_MATCHES):
        position = game.start()
        # A linear congruential generator chooses the moves: its numbers are the same on every machine.
        random_state = match_number + 1
        while positions_left > 0:
            positions_left -= 1
            outcome = game.outcome(position)
            if outcome is not None:
                digest.update(_to_bytes([outcome.winner, outcome.word]))
                break
            moves = game.moves(position)
            digest.update(_to_bytes([game.player(position), [game.move_to_data(move) for move in moves]]))
            random_state = (random_state * 6364136223846793005 + 1442695040888963407) % 2**64
            avoid_end = match_number % 2 == 1
            position = _choose_successor(game, position, moves, random_state >> 33, avoid_end=avoid_end)
    return digest.hexdigest()[:DIGEST_LENGTH]


def _choose_successor(
    game: Game[Any, Any], position: Any, moves: Any, random_number: int, *, avoid_end: bool
) -> Any:
    for step in range(len(moves) if avoid_end else 1):
        position_after = game.successor(position, moves[(random_number + step) % len(moves)])
        if not avoid_end or game.outcome(position_after) is None:
            return position_after
    return game.successor(position, moves[random_number % len(moves)])


def _to_bytes(data: Plain) -> bytes:
    return json.dumps(data, sort_keys=True, separators=(",", ":")).encode() + b"\n"
