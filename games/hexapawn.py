"""Hexapawn, a game by Martin Gardner, on a board of up to 26 x 26 squares.

Each side has a row of pawns. A pawn steps one square forward onto an empty square, or takes an enemy
pawn diagonally forward. A player wins by reaching the far row, or by leaving the opponent without a move.

Squares are numbered row by row from Maxie's side: 0 is a1, the left of her own row. People type moves
as in chess, `a1 a2` or `a1a2`. Maxie's pawns are W and move up, Minnie's are B and move down.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from arena.games.boards import Grid
from arena.games.core import BadData, Game, Outcome, PlainData, Player, RuleEndReason, require_integer

Move = tuple[int, int]
"""Source and target of a move, both as square numbers."""

MAX_BOARD_SIDE = 26
"""Maximum width and height of a board, in squares: a column's name is a letter from a to z."""
EMPTY_CELL = "."
"""Character of an empty square in `HexapawnPosition.squares`."""
PAWN_LETTER_BY_PLAYER = {Player.MAXIE: "W", Player.MINNIE: "B"}
"""Character of each player's pawns in `HexapawnPosition.squares`."""
PLAYER_BY_PAWN_LETTER = {pawn: player for player, pawn in PAWN_LETTER_BY_PLAYER.items()}


@dataclass(frozen=True, slots=True)
class HexapawnPosition:
    """A position: W, B or `.` for each square, the player to move, and the number of plies played."""

    squares: str
    player: Player
    ply: int


class Hexapawn(Game[HexapawnPosition, Move]):
    """Rules of Hexapawn. Moves are in the order of the squares that they start from.

    The moves of one pawn are in the order: forward, capture to the left, capture to the right.
    """

    name = "hexapawn"
    ply_limit = None  # pawns only go forward
    title = "Hexapawn"
    board: Grid

    def __init__(self, width: int = 3, height: int = 3) -> None:
        self.width = require_integer(width, "width", 1, MAX_BOARD_SIDE)
        self.height = require_integer(height, "height", 3, MAX_BOARD_SIDE)
        self.board = Grid(self.width, self.height, a1_below=True, checkered=True)

    @classmethod
    def from_setup(cls, setup: Mapping[str, Any]) -> Self:
        """Return the game on a board of the `width` and `height` in `setup`; each is 3 by default."""
        unknown_keys = set(setup) - {"width", "height"}
        if unknown_keys:
            raise BadData(
                f"the setup of hexapawn can have only the keys `width` and `height`, not {list(unknown_keys)!r:.60}"
            )
        return cls(**setup)

    def setup(self) -> dict[str, PlainData]:
        return {"width": self.width, "height": self.height}

    def start(self) -> HexapawnPosition:
        middle_rows = EMPTY_CELL * (self.width * (self.height - 2))
        return HexapawnPosition("W" * self.width + middle_rows + "B" * self.width, Player.MAXIE, 0)

    def player(self, position: HexapawnPosition) -> Player:
        return position.player

    def moves(self, position: HexapawnPosition) -> Sequence[Move]:
        return () if self._find_breakthrough_winner(position) else self._list_pawn_moves(position)

    def _list_pawn_moves(self, position: HexapawnPosition) -> list[Move]:
        squares, width = position.squares, self.width
        own, enemy = PAWN_LETTER_BY_PLAYER[position.player], PAWN_LETTER_BY_PLAYER[position.player.opponent]
        forward = width * position.player.sign
        moves = []
        for source, pawn in enumerate(squares):
            ahead = source + forward
            if pawn != own or not 0 <= ahead < len(squares):
                continue
            if squares[ahead] == EMPTY_CELL:
                moves.append((source, ahead))
            if source % width > 0 and squares[ahead - 1] == enemy:
                moves.append((source, ahead - 1))
            if source % width < width - 1 and squares[ahead + 1] == enemy:
                moves.append((source, ahead + 1))
        return moves

    def _find_breakthrough_winner(self, position: HexapawnPosition) -> Player | None:
        if "W" in position.squares[-self.width :]:
            return Player.MAXIE
        return Player.MINNIE if "B" in position.squares[: self.width] else None

    def successor(self, position: HexapawnPosition, move: Move) -> HexapawnPosition:
        source, target = move
        squares = list(position.squares)
        squares[target], squares[source] = squares[source], EMPTY_CELL
        return HexapawnPosition("".join(squares), position.player.opponent, position.ply + 1)

    def outcome(self, position: HexapawnPosition) -> Outcome | None:
        breakthrough_winner = self._find_breakthrough_winner(position)
        if breakthrough_winner is not None:
            return Outcome(breakthrough_winner, RuleEndReason.BREAKTHROUGH)
        return (
            None
            if self._list_pawn_moves(position)
            else Outcome(position.player.opponent, RuleEndReason.NO_MOVES)
        )

    def estimate(self, position: HexapawnPosition) -> int:
        """Return the number of Maxie's pawns minus the number of Minnie's."""
        return position.squares.count("W") - position.squares.count("B")

    def broken_rule(self, position: HexapawnPosition, move: Move) -> str | None:
        source, target = move
        square_count = len(position.squares)
        if not (0 <= source < square_count and 0 <= target < square_count):
            return f"the squares are a1 to {self.board.get_cell_name(square_count - 1)}"
        if position.squares[source] != PAWN_LETTER_BY_PLAYER[position.player]:
            return f"{position.player} has no pawn on {self.board.get_cell_name(source)}"
        if move not in self._list_pawn_moves(position):
            return "a pawn steps forward onto an empty square or takes diagonally forward"
        return None

    def move_from_data(self, data: object) -> Move:
        if isinstance(data, str) or not isinstance(data, Sequence) or len(data) != 2:
            raise BadData(
                f"a move of hexapawn must be [source, target], two square indices, not {data!r:.40}"
            )
        last_square = self.width * self.height - 1
        return (
            require_integer(data[0], "source", 0, last_square),
            require_integer(data[1], "target", 0, last_square),
        )

    def move_from_text(self, text: str) -> Move:
        match = re.fullmatch(r"\s*([a-z])(\d{1,2})[\s>-]*([a-z])(\d{1,2})\s*", text.lower(), re.ASCII)
        if match:
            column, row, to_column, to_row = match.groups()
            coordinates = [
                (ord(column) - ord("a"), int(row) - 1),
                (ord(to_column) - ord("a"), int(to_row) - 1),
            ]
            if all(x < self.width and 0 <= y < self.height for x, y in coordinates):
                source, target = (y * self.width + x for x, y in coordinates)
                return (source, target)
        last_square = self.board.get_cell_name(self.width * self.height - 1)
        raise BadData(
            f"{text.strip()!r:.40} is not a move: type two squares from a1 to {last_square}, e.g. 'a1 a2'"
        )

    def position_from_data(self, data: object) -> HexapawnPosition:
        if not isinstance(data, Mapping) or set(data) != {"squares", "player", "ply"}:
            raise BadData(
                "a position of hexapawn must be an object with the keys `squares`, `player` and `ply`"
            )
        squares, player = data["squares"], data["player"]
        size = self.width * self.height
        if not isinstance(squares, str) or len(squares) != size or set(squares) - set("WB."):
            raise BadData(
                f"squares must be {size} characters, row by row from a1, each W, B or '.' (empty), not {squares!r:.60}"
            )
        if max(squares.count("W"), squares.count("B")) > self.width:
            raise BadData(
                f"a side must have at most {self.width} pawns, not {max(squares.count('W'), squares.count('B'))}"
            )
        if "W" in squares[-self.width :] and "B" in squares[: self.width]:
            raise BadData(
                "both sides have a pawn on their last row, but the match ends when the first pawn gets there"
            )
        if player not in ("maxie", "minnie"):
            raise BadData(f"player must be maxie or minnie, not {player!r:.40}")
        ply = require_integer(data["ply"], "ply", 0, 2 * size * size)
        if ply % 2 != (player == "minnie"):
            raise BadData(f"at ply {ply} it is not {player}'s turn: maxie has the even plies")
        return HexapawnPosition(squares, Player(player), ply)

    def position_to_text(self, position: HexapawnPosition) -> str:
        """Return the rows from the top, the player to move, and the number of plies played: `BBB/.../WWW maxie 0`."""
        row_starts = reversed(range(0, len(position.squares), self.width))
        rows = "/".join(position.squares[start : start + self.width] for start in row_starts)
        return f"{rows} {position.player.value} {position.ply}"

    def position_from_text(self, text: str) -> HexapawnPosition:
        words = text.split()
        rows = words[0].upper().split("/") if words else []
        if len(words) != 3 or len(rows) != self.height or not words[2].isdecimal() or len(words[2]) > 6:
            example = self.position_to_text(self.start())
            raise BadData(
                f"{text.strip()!r:.60} is not a position: write {self.height} rows from the top, the player to move and the number of plies played, e.g. {example!r}"
            )
        if any(len(row) != self.width for row in rows):
            raise BadData(f"every row must have {self.width} squares, each W, B or '.', not {words[0]!r:.60}")
        squares = "".join(reversed(rows))
        return self.position_from_data({"squares": squares, "player": words[1], "ply": int(words[2])})

    def marks(self, position: HexapawnPosition) -> Sequence[Player | str]:
        return [PLAYER_BY_PAWN_LETTER.get(square, "") for square in position.squares]

    def picture(self, position: HexapawnPosition) -> str:
        return self.board.draw_text(position.squares)
