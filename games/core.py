"""What every game is: two players, positions, moves, and how a match of it ends.

The contract follows the GAME signature of 001 (section 4.2): `player`, `moves`, `play`, `outcome`
and `estimate`. To it are added the conversions that a network game needs: every move and position
goes to plain data (what msgpack and JSON carry) and to text (what a person reads and types).

Everything here is a value: positions are immutable and hashable, and no method changes anything.

Errors, all of them a player's or a file's fault and never the caller's program::

    GameError (ValueError)
      IllegalMove     a move that the rules do not allow; says why and lists the legal ones
      BadData         plain data or text that is no move, position or setup of this game
      UnknownGame     no game of that name (games.catalogue)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Generic, Self, TypeVar

P = TypeVar("P")
"""A position: immutable, hashable, compared by value."""
M = TypeVar("M")
"""A move: immutable, hashable, compared by value."""

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


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a position is over. `winner` is None for a draw."""

    winner: Player | None
    reason: Reason

    def __str__(self) -> str:
        who = f"{self.winner} wins" if self.winner else "draw"
        return f"{who} ({self.reason.value.replace('_', ' ')})"


class GameError(ValueError):
    """The root of what this package raises."""


class BadData(GameError):
    """Plain data or text that does not stand for what was asked."""


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


class Game(ABC, Generic[P, M]):
    """The rules of one game on one setup. Instances are immutable; compare them by `setup()`.

    `moves` is empty exactly when `outcome` is not None: nobody may pass, and a player who is to
    decide always can. Moves come in a fixed order, which is also how ties between moves are broken.
    """

    name: ClassVar[str]

    @classmethod
    @abstractmethod
    def from_setup(cls, setup: Mapping[str, object]) -> Self:
        """The game that `setup()` described. Raises BadData when it describes none."""

    @abstractmethod
    def setup(self) -> dict[str, Plain]:
        """All that another program needs to play by the same rules from the same start.

        It may be one value for all who ask: nobody changes it.
        """

    @abstractmethod
    def start(self) -> P:
        """The position before ply 0."""

    @abstractmethod
    def player(self, position: P) -> Player:
        """The player to move; in a position that is over, the one whose turn it would be."""

    @abstractmethod
    def ply(self, position: P) -> int:
        """How many moves were played to reach this position."""

    @abstractmethod
    def moves(self, position: P) -> Sequence[M]:
        """The legal moves in move order; empty exactly when the position is over."""

    @abstractmethod
    def successor(self, position: P, move: M) -> P:
        """The position after a move that came from `moves(position)`. Not checked: for searches."""

    @abstractmethod
    def outcome(self, position: P) -> Outcome | None:
        """How the position is over, or None while it is in play."""

    def recurring(self, position: P) -> Hashable | None:  # noqa: ARG002 - most games have no use for it
        """What two positions of a match share exactly when the later one is the earlier one come up again.

        None in a game in which no position can come up again.
        """
        return None

    @abstractmethod
    def estimate(self, position: P) -> int:
        """The plain static estimate for Maxie, in units of the game: high is good for her. It makes no claim to skill."""

    @abstractmethod
    def broken_rule(self, position: P, move: M) -> str | None:
        """Why `move` is not legal in a position that is in play, as one clause, or None when it is legal."""

    def fault(self, position: P, move: M) -> str | None:
        """Why `move` is not legal here, as one clause, or None when it is legal."""
        return "the match is over" if self.outcome(position) is not None else self.broken_rule(position, move)

    def play(self, position: P, move: M) -> P:
        """The position after `move`. Raises IllegalMove."""
        if self.outcome(position) is not None:
            raise IllegalMove(self.move_to_text(move), "the match is over", [])
        return self.play_on(position, move)

    def play_on(self, position: P, move: M) -> P:
        """The position after `move`, for whoever knows that this one is in play. Raises IllegalMove."""
        if (why := self.broken_rule(position, move)) is not None:
            legal = [self.move_to_text(each) for each in self.moves(position)]
            raise IllegalMove(self.move_to_text(move), why, legal)
        return self.successor(position, move)

    @abstractmethod
    def move_to_data(self, move: M) -> Plain:
        """A move as msgpack and JSON carry it."""

    @abstractmethod
    def move_from_data(self, data: object) -> M:
        """The move that `move_to_data` wrote. Raises BadData; says nothing about legality."""

    @abstractmethod
    def move_to_text(self, move: M) -> str:
        """A move as a person reads and types it."""

    @abstractmethod
    def move_from_text(self, text: str) -> M:
        """The move that a person typed. Raises BadData, saying what would be right."""

    @abstractmethod
    def position_to_data(self, position: P) -> dict[str, Plain]:
        """A position as msgpack and JSON carry it."""

    @abstractmethod
    def position_from_data(self, data: object) -> P:
        """The position that `position_to_data` wrote. Raises BadData."""

    @abstractmethod
    def position_to_text(self, position: P) -> str:
        """A position in one line, to be typed or kept in a file."""

    @abstractmethod
    def position_from_text(self, text: str) -> P:
        """The position that such a line stands for. Raises BadData."""

    @abstractmethod
    def picture(self, position: P) -> str:
        """A position drawn in several lines of text, for people."""


AnyGame = Game[object, object]
"""A game whose positions and moves are opaque to the caller: what the referee and the wire use."""


def whole_number(data: object, what: str, low: int, high: int) -> int:
    """`data` as an int in low..high, both ends allowed. Raises BadData. A bool is no number here."""
    if isinstance(data, bool) or not isinstance(data, int) or not low <= data <= high:
        raise BadData(f"{what} must be a whole number from {low} to {high}, not {data!r:.40}")
    return data
