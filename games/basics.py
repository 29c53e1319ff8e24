"""Values shared by all games: players, outcomes, errors, and plain data.

Each of these errors reports a mistake of a player or in a file, never a mistake of the calling code::

    GameError (ValueError)
      IllegalMove     the rules do not allow the move; the message gives the reason and legal moves
      BadData         plain data or text is not a move, position or setup of the game
      BadGame         the file or package that a user named has no valid game class
      UnknownGame     no game has this name (games.catalogue)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

PlainData = None | bool | int | float | str | Sequence["PlainData"] | Mapping[str, "PlainData"]
"""Plain data: values that msgpack and JSON can carry unchanged."""


class Player(StrEnum):
    """One of the two players. Maxie moves first and prefers positions of high value; Minnie prefers low values."""

    MAXIE = "maxie"
    MINNIE = "minnie"

    @property
    def opponent(self) -> Player:
        return MINNIE if self is MAXIE else MAXIE

    @property
    def sign(self) -> int:
        """Return 1 for Maxie and -1 for Minnie: the factor that turns a value for Maxie into one for this player."""
        return 1 if self is MAXIE else -1


MAXIE, MINNIE = Player.MAXIE, Player.MINNIE
"""The two players as module constants; in Python 3.11 these are ten times faster to look up than enum members."""


class RuleEndReason(StrEnum):
    """Reason why the rules of a built-in game end a match.

    ELIMINATION   Riskless: a player has no armies left
    ARMIES        Riskless: one player has the armies that win
    BOTH_ARMIES   Riskless: both players have the armies that win, a draw
    PLY_LIMIT     Riskless: the map's ply limit is reached, a draw
    LINE          tic-tac-toe: a player has three in a line
    BOARD_FULL    tic-tac-toe: all cells are taken and there is no line, a draw
    BREAKTHROUGH  Hexapawn: a pawn has reached the far row
    NO_MOVES      Hexapawn: the player to move has no move, and loses
    LEAF          explicit tree: a leaf is reached
    """

    ELIMINATION = "elimination"
    ARMIES = "armies"
    BOTH_ARMIES = "both_armies"
    PLY_LIMIT = "ply_limit"
    LINE = "line"
    BOARD_FULL = "board_full"
    BREAKTHROUGH = "breakthrough"
    NO_MOVES = "no_moves"
    LEAF = "leaf"


_END_REASON_PATTERN = re.compile(r"[a-z][a-z0-9_ ]{0,31}", re.ASCII)
RESERVED_END_REASONS = frozenset(
    [
        "adjudicated",
        "crash",
        "resignation",
        "timeout",
        "illegal_move",
        "disconnect",
        "protocol_error",
        "no_show",
        "server_fault",
    ]
)
"""End reasons that the server gives, not the rules of a game. A game's own end reasons cannot have these names."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a match by the rules of its game. `winner` is None for a draw.

    `reason` is a member of `RuleEndReason`, or a game's own text, such as "four in a row". Raises ValueError unless such
    a text has 1 to 32 lower-case letters, digits and spaces, begins with a letter, and is no reserved reason
    (RESERVED_END_REASONS).
    """

    winner: Player | None
    reason: RuleEndReason | str
    margin: int | None = None
    """Winner's lead, in the units of the game's score, such as boxes or armies; None if the game has no score."""

    def __post_init__(self) -> None:
        if type(self.reason) is not RuleEndReason and (
            not _END_REASON_PATTERN.fullmatch(self.reason)
            or self.reason.replace(" ", "_") in RESERVED_END_REASONS
        ):
            raise ValueError(
                f"{self.reason!r:.60} is not a valid end reason: write 1 to 32 lowercase letters, digits and spaces, beginning with a "
                f"letter; these are reserved: {', '.join(sorted(RESERVED_END_REASONS))}"
            )

    @property
    def reason_code(self) -> str:
        """Return the reason as one word, such as `four_in_a_row`, for messages, records and tables."""
        return str(self.reason).replace(" ", "_")

    def __str__(self) -> str:
        result_text = f"{self.winner} wins" if self.winner else "draw"
        return f"{result_text} ({self.reason_code.replace('_', ' ')}{self.margin_suffix})"

    @property
    def margin_suffix(self) -> str:
        """Return the winner's lead as the end of a sentence, such as `, by 3`; empty if the game has no score."""
        return f", by {self.margin}" if self.margin is not None else ""


class GameError(ValueError):
    """Base class of all errors that the package `games` raises."""


class BadData(GameError):
    """Raised when plain data or text is not a valid move, position or setup."""


class BadGame(GameError):
    """Raised when a file or package has no valid game class. The message says where the fault is and how to correct it."""


class UnknownGame(GameError):
    """Raised when no game has the requested name.

    `reason` is the message without the advice to name a file with a game, for users who cannot name files on this
    machine.
    """

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(f"{reason} ({hint})" if hint else reason)
        self.reason = reason


class IllegalMove(GameError):
    """Raised when the rules do not allow a move in this position.

    `why` is the reason, as part of a sentence; `legal` lists the legal moves as text, in move order. The message names
    at most MAX_SHOWN_MOVES of them, so that it stays one line.
    """

    MAX_SHOWN_MOVES = 12

    def __init__(self, move: str, why: str, legal: Sequence[str]) -> None:
        self.move = move
        self.why = why
        self.legal = tuple(legal)
        first_moves = ", ".join(self.legal[: self.MAX_SHOWN_MOVES])
        hidden_count = len(self.legal) - self.MAX_SHOWN_MOVES
        hidden_text = f" and {hidden_count} more" if hidden_count > 0 else ""
        super().__init__(f"illegal move {move}: {why}; legal: {first_moves or 'none'}{hidden_text}")


def require_integer(data: object, value_name: str, low: int, high: int) -> int:
    """Return `data` if it is an int from `low` to `high`, both included.

    Raises BadData for anything else, even for a bool. The message calls the value `value_name`.
    """
    if isinstance(data, bool) or not isinstance(data, int) or not low <= data <= high:
        raise BadData(f"{value_name} must be a whole number from {low} to {high}, not {data!r:.40}")
    return data
