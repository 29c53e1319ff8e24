"""From what a bot chose to the message that says so: checked here, where its author can still be told."""

from __future__ import annotations

from math import isfinite
from typing import Any

from msgspec import UNSET, UnsetType

from arena.bots.api.match import Match
from arena.bots.api.thinking import Thinking
from arena.games.core import BadData, IllegalMove
from arena.protocol import values
from arena.protocol.messages import Move

LONGEST_LINE = 64
"""Moves of a main line that are sent."""
LARGEST = 1e12
"""The largest value, either way, that a message can carry."""

_WRONG_DATA = (TypeError, ValueError, OverflowError, AttributeError, LookupError)
"""What a game's conversions raise for something that is no move at all."""


class BadChoice(ValueError):
    """What a bot chose is nothing that could be sent."""


def move_message(
    match: Match, ply: int, position: Any, move: Any, thinking: Thinking | None
) -> tuple[Move, list[str]]:
    """The message for a move, and what its author should be warned of. Raises BadChoice.

    An illegal move is sent all the same: the referee decides, not this side. Thinking that cannot be
    told is left out.
    """
    game = match.game
    warnings = []
    try:
        data = game.move_to_data(move)
        game.play(position, game.move_from_data(data))
    except IllegalMove as illegal:
        warnings.append(f"choose returned at ply {ply} an {illegal}")
    except _WRONG_DATA as error:
        # What Python says of a wrong type helps nobody; what is right does.
        why = error if isinstance(error, BadData) else f"one is {game.moves(position)[0]!r}"
        raise BadChoice(f"choose returned {move!r:.60}, which is no move of {game.name}: {why}") from None
    try:
        told = _thinking(match, thinking)
    except _WRONG_DATA as error:
        told = UNSET
        warnings.append(f"self.thinking is not sent at ply {ply}: {error}: {thinking!r:.200}")
    return Move(match.id, ply, data, told), warnings


def _thinking(match: Match, thinking: Thinking | None) -> values.Thinking | UnsetType:
    """The figures within the bounds of the wire; what is no finite number is left out."""
    if thinking is None:
        return UNSET
    value = None if thinking.value is None else float(thinking.value)
    return values.Thinking(
        depth=None if thinking.depth is None else min(max(int(thinking.depth), 0), 100_000),
        value=max(-LARGEST, min(value, LARGEST)) if value is not None and isfinite(value) else None,
        nodes=None if thinking.nodes is None else min(max(int(thinking.nodes), 0), 2**63 - 1),
        line=[match.game.move_to_data(move) for move in thinking.line[:LONGEST_LINE]] or None,
    )
