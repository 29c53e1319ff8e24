"""Conversion of a bot's chosen move to a message. Warnings tell the bot's author about an illegal move or bad analysis."""

from __future__ import annotations

from math import isfinite
from typing import Any

from msgspec import UNSET, UnsetType

from arena.bots.api.bot import Match, Thinking
from arena.games.core import BadData, IllegalMove
from arena.protocol import values
from arena.protocol.messages import Move

MAX_MAIN_LINE_MOVES = 64
"""Maximum number of moves in the main line (the expected moves) of a message. Later moves are left out."""
MAX_ABSOLUTE_SEARCH_VALUE = 1e12
"""Largest absolute value of a position that a message can carry. Larger values are clamped to it."""

MAX_CPU_MS = 1e9
"""Largest CPU time in ms that a message can carry. Longer times are clamped to it."""

_MOVE_CONVERSION_ERRORS = (TypeError, ValueError, OverflowError, AttributeError, LookupError)
"""Exceptions that a method of a game, such as `move_to_data`, may raise if its argument is not a move of the game."""


class InvalidMoveValue(ValueError):
    """Raised when a bot's choice is not a move of the game; the message is one line for the bot's author."""


def make_move_message(
    match: Match, ply: int, position: Any, move: Any, thinking: Thinking | None
) -> tuple[Move, list[str]]:
    """Return the message that sends the move chosen in `position` and its analysis, and warnings for the author, one line each.

    An illegal move only leads to a warning, because the referee decides, not the client. Analysis that cannot be encoded
    is left out, with a warning. Raises InvalidMoveValue if `move` is not a move of the game at all.
    """
    game = match.game
    warnings = []
    try:
        data = game.move_to_data(move)
        game.play_even_if_over(position, game.move_from_data(data))
    except IllegalMove as illegal:
        warnings.append(f"choose returned at ply {ply} an {illegal}")
    except _MOVE_CONVERSION_ERRORS as error:
        # Python's message about a wrong type helps nobody, so show a valid move instead.
        reason = error if isinstance(error, BadData) else f"one is {game.moves(position)[0]!r}"
        raise InvalidMoveValue(
            f"choose returned {move!r:.60}, which is not a move of {game.name}: {reason}"
        ) from None
    try:
        thinking_fields = _make_sendable_thinking(match, thinking)
    except _MOVE_CONVERSION_ERRORS as error:
        thinking_fields = UNSET
        warnings.append(f"self.thinking is not sent at ply {ply}: {error}: {thinking!r:.200}")
    return Move(match.id, ply, data, thinking_fields), warnings


def _make_sendable_thinking(match: Match, thinking: Thinking | None) -> values.Thinking | UnsetType:
    """Return the analysis within the protocol's limits: numbers are clamped, and a long main line is cut. UNSET for None.

    If the search's value is infinite or NaN, it becomes None.
    """
    if thinking is None:
        return UNSET
    value = None if thinking.value is None else float(thinking.value)
    return values.Thinking(
        depth=None if thinking.depth is None else min(max(int(thinking.depth), 0), 100_000),
        value=max(-MAX_ABSOLUTE_SEARCH_VALUE, min(value, MAX_ABSOLUTE_SEARCH_VALUE))
        if value is not None and isfinite(value)
        else None,
        nodes=None if thinking.nodes is None else min(max(int(thinking.nodes), 0), 2**63 - 1),
        line=[match.game.move_to_data(move) for move in thinking.line[:MAX_MAIN_LINE_MOVES]] or None,
        cpu_ms=None if thinking.cpu_ms is None else min(max(float(thinking.cpu_ms), 0.0), MAX_CPU_MS),
    )
