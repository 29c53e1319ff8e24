"""Interface of every game: two players, positions, moves, and outcomes.

The central methods are `player`, `moves`, `play`, `outcome` and `estimate`. Others are the conversions that a network
game needs: every move and position converts to plain data (for msgpack and JSON) and to text (for people to read and
type).

Positions are immutable and hashable, and no method changes a position or a move. A custom game defines `name`, `start`,
`ply`, `moves`, `successor` and `outcome`; every other method has a default (docs/games.md). The errors are in
`games.basics`.
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
    PlainData,
    Player,
    RuleEndReason,
    UnknownGame,
    require_integer,
)
from arena.games.boards import Board, format_cell_marks

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
    "PlainData",
    "Player",
    "RuleEndReason",
    "UnknownGame",
    "require_integer",
]

P = TypeVar("P")
"""Type of a game's positions: immutable, hashable, compared by value."""
M = TypeVar("M")
"""Type of a game's moves: immutable, hashable, compared by value."""


class Game(ABC, Generic[P, M]):
    """Rules of a game with the parameters of one match (`setup`). Instances are immutable. Compare them by `setup()`.

    `moves` is empty exactly when `outcome` is not None: in an unfinished position, the player to move always has a move,
    and no player may pass. Moves come in a fixed order. Of equally good moves, engines prefer the first in this order.
    """

    name: ClassVar[str]
    """Name of the game in messages and records: 1 to 64 lower-case letters, digits, `_` and `-`."""
    title: ClassVar[str] = ""
    """Title under which users see a game of the project. Every other game is shown under its `name`."""
    board: Board | None = None
    """Board that the web page and the terminal draw, with `marks` on its cells; None for a game that is shown as text."""
    ply_limit: int | None = 1_000
    """Number of plies after which an unfinished match is a draw; None if the rules end every match."""

    @classmethod
    def from_setup(cls, setup: Mapping[str, object]) -> Self:
        """Return the game with the parameters `setup`, in the form that `setup()` returns.

        Default: accept only an empty mapping. Raises BadData if the parameters are invalid.
        """
        if setup:
            raise BadData(f"the setup of {cls.name} must be empty, not {setup!r:.60}")
        return cls()

    def setup(self) -> dict[str, PlainData]:
        """Return the parameters of this game: all data that another program needs to play by the same rules.

        Callers must not change the returned mapping, so every call may return the same one. Default: an empty mapping.
        """
        return {}

    @abstractmethod
    def start(self) -> P:
        """Return the position at the start of a match."""

    def player(self, position: P) -> Player:
        """Return the player to move; in a finished position, the player whose turn it would be.

        Default: the players alternate.
        """
        return MINNIE if self.ply(position) % 2 else MAXIE

    def ply(self, position: P) -> int:
        """Return the number of moves played before this position. Default: `position.ply`."""
        return cast("int", position.ply)  # type: ignore[attr-defined]  # `arena check --game` reports a missing one

    @abstractmethod
    def moves(self, position: P) -> Sequence[M]:
        """Return the legal moves in their fixed order; empty exactly when the position is finished."""

    @abstractmethod
    def successor(self, position: P, move: M) -> P:
        """Return the position after a move from `moves(position)`. The move is not checked, which saves searches time."""

    @abstractmethod
    def outcome(self, position: P) -> Outcome | None:
        """Return the outcome of a finished position, or None if the match continues."""

    def is_ply_limit_reached(self, ply: int) -> bool:
        """Return True if the ply limit makes an unfinished match a draw after `ply` plies."""
        return self.ply_limit is not None and ply >= self.ply_limit

    def repetition_key(self, position: P) -> Hashable | None:  # noqa: ARG002 - most games do not need it
        """Return a key for counting repetitions: two positions of a match with equal keys count as the same position.

        Return None if no position can occur twice in a match of the game. Default: None.
        """
        return None

    def estimate(self, position: P) -> int:  # noqa: ARG002 - the default knows nothing about positions
        """Return an estimate of the position, without a search. High values are good for Maxie.

        The unit is the game's choice, such as armies or pawns. Default: 0, so that searches see only wins and losses.
        """
        return 0

    def expected_plies(self, position: P) -> float:
        """Return the expected number of plies until the end of the match. Engines divide their remaining time by it.

        Default: 90 less the plies already played, but at least 30.
        """
        return max(30.0, 90.0 - self.ply(position))

    def broken_rule(self, position: P, move: M) -> str | None:
        """Return why `move` is illegal, as part of a sentence; None if it is legal. The match must not be over."""
        return None if move in self.moves(position) else "it is none of the legal moves"

    def explain_illegal_move(self, position: P, move: M) -> str | None:
        """Return why `move` is illegal, as part of a sentence; None if it is legal.

        If the match is over, every move is illegal, and the result is `the match is over`.
        """
        return "the match is over" if self.outcome(position) is not None else self.broken_rule(position, move)

    def play(self, position: P, move: M) -> P:
        """Return the position after `move`. Raises IllegalMove if the move is illegal or the match is over."""
        if self.outcome(position) is not None:
            raise IllegalMove(self.move_to_text(move), "the match is over", [])
        return self.play_even_if_over(position, move)

    def play_even_if_over(self, position: P, move: M) -> P:
        """Return the position after `move`, even if the match is over. Raises IllegalMove for an illegal move."""
        if (why := self.broken_rule(position, move)) is not None:
            legal = [self.move_to_text(legal_move) for legal_move in self.moves(position)]
            raise IllegalMove(self.move_to_text(move), why, legal)
        return self.successor(position, move)

    def compiled(self) -> object | None:
        """Return the game in the form that the compiled searches read (docs/games.md); None to search the game in Python.

        Default: None.
        """
        return None

    # drawing

    def marks(self, position: P) -> Sequence[Player | str]:  # noqa: ARG002 - without a board there are no marks
        """Return the content of each cell: the player whose piece it is, a short text, or "" for an empty cell.

        Required with a `board`, and unused without one.
        """
        return ()

    def squares(self, position: P, move: M) -> Sequence[int]:  # noqa: ARG002 - overrides may need the position
        """Return the cells that a person clicks in order to make a move; empty if clicks cannot make it.

        Default: the move itself if it is a cell number or a tuple of cell numbers.
        """
        cell_count = self.board.cell_count if self.board is not None else 0
        parts = move if isinstance(move, tuple) else (move,)
        are_cells = all(
            isinstance(part, int) and not isinstance(part, bool) and 0 <= part < cell_count for part in parts
        )
        return cast("tuple[int, ...]", parts) if are_cells else ()

    def picture(self, position: P) -> str:
        """Return a position as lines of text for the terminal. Default: the board, or one line if there is no board."""
        if self.board is None:
            return self.position_to_text(position)
        return self.board.draw_text(format_cell_marks(self.marks(position)))

    # conversions

    def move_to_data(self, move: M) -> PlainData:
        """Return a move as plain data for msgpack and JSON."""
        return plain.to_plain_data(move)

    def move_from_data(self, data: object) -> M:
        """Convert data from `move_to_data` to a move, without checking that it is legal. Raises BadData for other data."""
        try:
            return cast("M", plain.from_plain_data(data, self._example_move))
        except BadData as error:
            raise BadData(f"{data!r:.40} is not a move of {self.name}: {error}") from None

    def move_to_text(self, move: M) -> str:
        """Return a move as people read and type it.

        Default: the fields of the move, separated by spaces, with names instead of cell numbers.
        """
        return plain.format_move(move, self._cell_names)

    def move_from_text(self, text: str) -> M:
        """Return the move that a person typed. Raises BadData for other text; the message shows a valid move."""
        numbers = {name.lower(): cell for cell, name in enumerate(self._cell_names)}
        data = plain.parse_move(text, self._example_move, numbers)
        try:
            return cast("M", plain.from_plain_data(data, self._example_move))
        except BadData:
            example = self.move_to_text(self._example_move)
            raise BadData(
                f"{text.strip()!r:.40} is not a move of {self.name}: a valid one is {example}"
            ) from None

    def position_to_data(self, position: P) -> dict[str, PlainData]:
        """Return a position as plain data for msgpack and JSON.

        Default: a mapping from the position's field names to their values. A position that has no named fields, such as
        a tuple, is the value of the single key `position`.
        """
        data = plain.to_plain_data(position)
        return data if isinstance(data, dict) else {"position": data}

    def position_from_data(self, data: object) -> P:
        """Convert data from `position_to_data` to a position. Raises BadData for other data."""
        example_position = self.start()
        is_mapping = isinstance(plain.to_plain_data(example_position), dict)
        if not isinstance(data, Mapping) or (not is_mapping and set(data) != {"position"}):
            raise BadData(
                f"a position of {self.name} must be like {self.position_to_text(example_position):.200}, not {data!r:.40}"
            )
        try:
            return cast(
                "P", plain.from_plain_data(data if is_mapping else data["position"], example_position)
            )
        except BadData as error:
            raise BadData(f"{data!r:.40} is not a position of {self.name}: {error}") from None

    def position_to_text(self, position: P) -> str:
        """Return a position as one line of text, for users and files. Default: its plain data as JSON."""
        return plain.to_json(self.position_to_data(position))

    def position_from_text(self, text: str) -> P:
        """Parse text from `position_to_text`, and return the position. Raises BadData for other text."""
        return self.position_from_data(plain.from_json(text))

    @cached_property
    def _example_move(self) -> M:
        """Return the first legal move at the start, as an example from which conversions infer the types of a move's fields."""
        moves = self.moves(self.start())
        if not moves:
            raise BadData(f"{self.name} must have a legal move at its start")
        return moves[0]

    @cached_property
    def _cell_names(self) -> Sequence[str]:
        """Return the name of each cell, which the text of a move shows instead of the cell's number.

        Return an empty sequence if the game has no board, or overrides `squares`, because then the numbers in a move
        need not be cell numbers.
        """
        board = self.board
        if board is None or type(self).squares is not Game.squares:
            return ()
        return [board.get_cell_name(cell) for cell in range(board.cell_count)]


AnyGame = Game[object, object]
"""Type of any game, for code that passes positions and moves on without knowing their types."""
