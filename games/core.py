"""What every game is: two players, positions, moves, and how a match of it ends.

The contract follows the GAME signature of 001 (section 4.2): `player`, `moves`, `play`, `outcome`
and `estimate`. To it are added the conversions that a network game needs: every move and position
goes to plain data (what msgpack and JSON carry) and to text (what a person reads and types).

Everything here is a value: positions are immutable and hashable, and no method changes anything. A game of one's
own writes `name`, `start`, `ply`, `moves`, `successor` and `outcome`; all else has a default (docs/games.md).
The errors are those of `games.basics`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import ClassVar, Generic, Self, TypeVar, cast

from arena.games import plain
from arena.games.basics import (
    MAXIE,
    MINNIE,
    BadData,
    BadGame,
    GameError,
    IllegalMove,
    Outcome,
    Plain,
    Player,
    Reason,
    UnknownGame,
    whole_number,
)
from arena.games.boards import Board, written

__all__ = [
    "MAXIE",
    "MINNIE",
    "AnyGame",
    "BadData",
    "BadGame",
    "Game",
    "GameError",
    "IllegalMove",
    "M",
    "Outcome",
    "P",
    "Plain",
    "Player",
    "Reason",
    "UnknownGame",
    "whole_number",
]

P = TypeVar("P")
"""A position: immutable, hashable, compared by value."""
M = TypeVar("M")
"""A move: immutable, hashable, compared by value."""


class Game(ABC, Generic[P, M]):
    """The rules of one game on one setup. Instances are immutable; compare them by `setup()`.

    `moves` is empty exactly when `outcome` is not None: nobody may pass, and a player who is to
    decide always can. Moves come in a fixed order, which is also how ties between moves are broken.
    """

    name: ClassVar[str]
    """The name on the wire and in records: 1 to 64 small letters, digits, `_` and `-`."""
    title: ClassVar[str] = ""
    """What people call a game of the project; any other goes by its name."""
    board: Board | None = None
    """The board that a page draws, with `marks` on its cells; None for a game that is drawn by its text."""

    @classmethod
    def from_setup(cls, setup: Mapping[str, object]) -> Self:
        """The game that `setup()` described. Raises BadData when it describes none. Default: a game has one setup."""
        if setup:
            raise BadData(f"the setup of {cls.name} is empty, not {setup!r:.60}")
        return cls()

    def setup(self) -> dict[str, Plain]:
        """All that another program needs to play by the same rules from the same start.

        It may be one value for all who ask: nobody changes it. Default: nothing.
        """
        return {}

    @abstractmethod
    def start(self) -> P:
        """The position before ply 0."""

    def player(self, position: P) -> Player:
        """The player to move; in a position that is over, the one whose turn it would be. Default: they take turns."""
        return MINNIE if self.ply(position) % 2 else MAXIE

    def ply(self, position: P) -> int:
        """How many moves were played to reach this position. Default: what `position.ply` says."""
        return cast("int", position.ply)  # type: ignore[attr-defined]  # `arena check --game` tells who has none

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

    def estimate(self, position: P) -> int:  # noqa: ARG002 - without one, nothing is known
        """The plain static estimate for Maxie, in units of the game: high is good for her. It makes no claim to skill.

        Default: 0, so that searches see wins and losses alone.
        """
        return 0

    def broken_rule(self, position: P, move: M) -> str | None:
        """Why `move` is not legal in a position that is in play, as one clause, or None when it is legal."""
        return None if move in self.moves(position) else "it is none of the legal moves"

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

    def compiled(self) -> object | None:
        """The game for the compiled searches (docs/games.md); None, the default: they search it in Python."""
        return None

    # what is drawn

    def marks(self, position: P) -> Sequence[Player | str]:  # noqa: ARG002 - without a board there is nothing
        """What lies on each cell of the board: the player whose piece it is, a text of few letters, or nothing, "".

        Needed with a `board`, and of no use without one.
        """
        return ()

    def squares(self, position: P, move: M) -> Sequence[int]:  # noqa: ARG002 - what it is about may depend on it
        """The cells that a move is about, in the order in which a person clicks on them; empty for none.

        Default: the move itself where it is the number of a cell, or a tuple of such numbers.
        """
        cells = self.board.cells if self.board is not None else 0
        parts = move if isinstance(move, tuple) else (move,)
        right = all(
            isinstance(part, int) and not isinstance(part, bool) and 0 <= part < cells for part in parts
        )
        return cast("tuple[int, ...]", parts) if right else ()

    def picture(self, position: P) -> str:
        """A position drawn in several lines of text, for people. Default: the board with its marks, else its text."""
        if self.board is None:
            return self.position_to_text(position)
        return self.board.drawn(written(self.marks(position)))

    # conversions

    def move_to_data(self, move: M) -> Plain:
        """A move as msgpack and JSON carry it."""
        return plain.to_plain(move)

    def move_from_data(self, data: object) -> M:
        """The move that `move_to_data` wrote. Raises BadData; says nothing about legality."""
        try:
            return cast("M", plain.from_plain(data, self._a_move))
        except BadData as error:
            raise BadData(f"{data!r:.40} is no move of {self.name}: {error}") from None

    def move_to_text(self, move: M) -> str:
        """A move as a person reads and types it. Default: its numbers and words; the names of cells where it is cells."""
        return plain.as_words(move, self._names)

    def move_from_text(self, text: str) -> M:
        """The move that a person typed. Raises BadData, saying what would be right."""
        numbers = {name.lower(): cell for cell, name in enumerate(self._names)}
        data = plain.words_to_data(text, self._a_move, numbers)
        try:
            return cast("M", plain.from_plain(data, self._a_move))
        except BadData:
            example = self.move_to_text(self._a_move)
            raise BadData(f"{text.strip()!r:.40} is no move of {self.name}: one is {example}") from None

    def position_to_data(self, position: P) -> dict[str, Plain]:
        """A position as msgpack and JSON carry it. Default: its fields, or what it is under the name `position`."""
        data = plain.to_plain(position)
        return data if isinstance(data, dict) else {"position": data}

    def position_from_data(self, data: object) -> P:
        """The position that `position_to_data` wrote. Raises BadData."""
        like = self.start()
        fields = isinstance(plain.to_plain(like), dict)
        if not isinstance(data, Mapping) or (not fields and set(data) != {"position"}):
            raise BadData(
                f"a position of {self.name} is {self.position_to_text(like):.200}, not {data!r:.40}"
            )
        try:
            return cast("P", plain.from_plain(data if fields else data["position"], like))
        except BadData as error:
            raise BadData(f"{data!r:.40} is no position of {self.name}: {error}") from None

    def position_to_text(self, position: P) -> str:
        """A position in one line, to be typed or kept in a file. Default: its data as JSON."""
        return plain.to_json(self.position_to_data(position))

    def position_from_text(self, text: str) -> P:
        """The position that such a line stands for. Raises BadData."""
        return self.position_from_data(plain.from_json(text))

    @cached_property
    def _a_move(self) -> M:
        """A move of this game, to tell by what moves are made of."""
        moves = self.moves(self.start())
        if not moves:
            raise BadData(f"{self.name} has no move at its start")
        return moves[0]

    @cached_property
    def _names(self) -> Sequence[str]:
        """The names of the cells, where a move is made of cells: where its squares are what it is itself."""
        board = self.board
        if board is None or type(self).squares is not Game.squares:
            return ()
        return [board.name_of(cell) for cell in range(board.cells)]


AnyGame = Game[object, object]
"""A game whose positions and moves are opaque to the caller: what the referee and the wire use."""
