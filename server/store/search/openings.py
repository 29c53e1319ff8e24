"""By what finished matches with the same opening are found: a short digest of what was played first, on what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import msgspec

FIRST_PLIES = 4
"""How many plies count as the opening where the players began by themselves."""


def opening_key(game: str, setup: Mapping[str, Any], moves: Sequence[Any], opened: int) -> str | None:
    """The key of an opening, 16 hexadecimal digits; None for a match that has not come so far.

    opened  how many of the moves were played before the players began; 0: the opening is the first four plies
    """
    count = opened or FIRST_PLIES
    if len(moves) < count:
        return None
    # Only what is played is told apart: a map of another name has another opening.
    told = msgspec.json.encode([game, setup.get("map", ""), list(moves[:count])])
    return sha256(told).hexdigest()[:16]
