"""What the games are told in: the players, how a position is over, the errors, and plain data. Pure values.

Errors, all of them a player's or a file's fault and never the caller's program::

    GameError (ValueError)
      IllegalMove     a move that the rules do not allow; says why and lists the legal ones
      BadData         plain data or text that is no move, position or setup of this game
      BadGame         what was named as a game is none; says where, and what would be right
      UnknownGame     no game of that name (games.catalogue)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

Plain = None | bool | int | float | str | Sequence["Plain"] | Mapping[str, "Plain"]
"""Data that msgpack and JSON carry as they are."""


class Player(StrEnum):
    """Maxie moves first and likes high values; Minnie likes low ones."""

    MAXIE = "maxie"
    MINNIE = "minnie"

    @property
    def opponent(self) -> Player:
        return MINNIE if self is MAXIE else MAXIE

    @property
    def sign(self) -> int:
        """+1 for Maxie, -1 for Minnie: turns a value for Maxie into one for this player."""
        return 1 if self is MAXIE else -1


MAXIE, MINNIE = Player.MAXIE, Player.MINNIE
"""The two players under names that are looked up at a tenth of the price of an enumeration's member in Python 3.11."""


class Reason(StrEnum):
    """Why a position is over by the rules of its game."""

    ELIMINATION = "elimination"
    ARMIES = "armies"
    BOTH_ARMIES = "both_armies"
    PLY_LIMIT = "ply_limit"
    LINE = "line"
    BOARD_FULL = "board_full"
    BREAKTHROUGH = "breakthrough"
    NO_MOVES = "no_moves"
    LEAF = "leaf"


_REASON = re.compile(r"[a-z][a-z0-9_ ]{0,31}", re.ASCII)
RESERVED = frozenset(
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
"""Words for a match that ended before its game did, which no game can give as its own reason."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a position is over. `winner` is None for a draw.

    `reason` is one that the project's games share, or a game's own in small letters, as in "four in a row".
    Raises ValueError for a text that cannot be one.
    """

    winner: Player | None
    reason: Reason | str

    def __post_init__(self) -> None:
        if type(self.reason) is not Reason and (
            not _REASON.fullmatch(self.reason) or self.reason.replace(" ", "_") in RESERVED
        ):
            raise ValueError(
                f"{self.reason!r:.60} is no reason of a game: write 1 to 32 small letters, digits and blanks, "
                f"but none of {', '.join(sorted(RESERVED))}"
            )

    @property
    def word(self) -> str:
        """The reason as the wire, records and tables have it: `four_in_a_row`."""
        return str(self.reason).replace(" ", "_")

    def __str__(self) -> str:
        who = f"{self.winner} wins" if self.winner else "draw"
        return f"{who} ({self.word.replace('_', ' ')})"


class GameError(ValueError):
    """The root of what this package raises."""


class BadData(GameError):
    """Plain data or text that does not stand for what was asked."""


class BadGame(GameError):
    """What was named as a game is none: says where it was looked for, and what would be right."""


class UnknownGame(GameError):
    """No game of that name."""


class IllegalMove(GameError):
    """A move that the rules do not allow here.

    `why` is one clause; `legal` lists the legal moves as text, in move order. The message shows a
    few of them, so that it stays one line.
    """

    SHOWN = 12

    def __init__(self, move: str, why: str, legal: Sequence[str]) -> None:
        self.move = move
        self.why = why
        self.legal = tuple(legal)
        shown = ", ".join(self.legal[: self.SHOWN])
        more = len(self.legal) - self.SHOWN
        tail = f" and {more} more" if more > 0 else ""
        super().__init__(f"illegal move {move}: {why}; legal: {shown or 'none'}{tail}")


def whole_number(data: object, what: str, low: int, high: int) -> int:
    """`data` as an int in low..high, both ends allowed. Raises BadData. A bool is no number here."""
    if isinstance(data, bool) or not isinstance(data, int) or not low <= data <= high:
        raise BadData(f"{what} must be a whole number from {low} to {high}, not {data!r:.40}")
    return data
