"""A position of any game as a piece of SVG, fitted into a rectangle: a map with its armies, or a board with its pieces."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import Any, NamedTuple

from arena.games.boards import Grid, Points
from arena.games.core import Game, Player
from arena.games.hexapawn import Hexapawn
from arena.games.riskless import Riskless
from arena.games.tictactoe import TicTacToe
from arena.maps.loader import MapError, load_file, map_names
from arena.maps.mapfile import MapFile
from arena.maps.svg import layers

MAXIE, MINNIE = "#1d4ed8", "#c2410c"
READABLE = 0.8
"""How small a map may be drawn with its names: below that nobody reads them."""
LETTERS = {"X": Player.MAXIE, "O": Player.MINNIE, "W": Player.MAXIE, "B": Player.MINNIE}
"""Whose piece a letter stands for, in the games that keep their boards as letters."""


class Box(NamedTuple):
    """A rectangle of a picture, in its pixels."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Piece:
    """What is drawn of a position: `still` is the same for all positions of a match, `moving` lies above it."""

    still: str
    moving: str

    @property
    def whole(self) -> str:
        """All of it."""
        return self.still + self.moving


def draw_position(game: Game[Any, Any], position: Any, box: Box) -> Piece:
    """A position within a rectangle. A game that declares no board is drawn as the text that it is told by."""
    if isinstance(game, Riskless):
        return _draw_map(game, position.armies, box)
    board, marks = _board(game, position)
    if isinstance(board, Grid):
        return _draw_grid(board, marks, box)
    if isinstance(board, Points):
        return _draw_points(board, marks, box)
    return Piece("", _draw_text(game.picture(position), box))


def shipped(game: Riskless) -> MapFile | None:
    """The file of a game's map, where it is a shipped one whose territories lie where they lay: its goal may be another by now."""
    name = game.map.name
    if name in map_names():
        try:
            file = load_file(name)
        except MapError:
            return None
        if (file.map.territories, file.map.neighbours, file.map.places) == (
            game.map.territories,
            game.map.neighbours,
            game.map.places,
        ):
            return file
    return None


def file_of(game: Riskless) -> MapFile:
    """The map of a game with its continents, where its territories lie as those of a shipped one."""
    return shipped(game) or MapFile(game.map)


def _draw_map(game: Riskless, armies: Any, box: Box) -> Piece:
    file = file_of(game)
    ground = _ground(file, box)
    drawn = layers(file, armies, names=False)
    frame = _frame(drawn.width, drawn.height, box)
    return Piece(ground, f"{frame}<style>{drawn.style}</style>{drawn.marks}</svg>")


@lru_cache(maxsize=4)
def _ground(file: MapFile, box: Box) -> str:
    drawn = layers(file, file.map.start, names=False)
    if min(box.width / drawn.width, box.height / drawn.height) >= READABLE:
        drawn = layers(file, file.map.start)
    return f"{_frame(drawn.width, drawn.height, box)}<style>{drawn.style}</style>{drawn.ground}</svg>"


def _frame(width: float, height: float, box: Box) -> str:
    """The beginning of an svg element of that size, as large as the rectangle lets it be."""
    return (
        f'<svg x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" '
        f'viewBox="0 0 {width:.1f} {height:.1f}">'
    )


def _board(game: Game[Any, Any], position: Any) -> tuple[Grid | Points | None, list[Player | str]]:
    """The board of a game and what lies on its cells."""
    if isinstance(game, TicTacToe):
        return Grid(3, 3), [LETTERS.get(cell, "") for cell in position.cells]
    if isinstance(game, Hexapawn):
        grid = Grid(game.width, game.height, a1_below=True, checkered=True)
        return grid, [LETTERS.get(square, "") for square in position.squares]
    return game.board, list(game.marks(position))


def _draw_grid(grid: Grid, marks: list[Player | str], box: Box) -> Piece:
    side = 60.0
    still, moving = [], []
    for cell in range(grid.cells):
        row, column = divmod(cell, grid.columns)
        x, y = column * side, (grid.rows - 1 - row if grid.a1_below else row) * side
        dark = grid.checkered and (row + column) % 2 == 0
        still.append(
            f'<rect x="{x + 1:.1f}" y="{y + 1:.1f}" width="{side - 2}" height="{side - 2}" rx="4" '
            f'fill="{"#d9dfe6" if dark else "#ffffff"}" stroke="#9aa5b1"/>'
        )
        moving.append(
            _mark(marks[cell] if cell < len(marks) else "", x + side / 2, y + side / 2, 0.34 * side)
        )
    frame = _frame(grid.columns * side, grid.rows * side, box)
    return Piece(f"{frame}{''.join(still)}</svg>", f"{frame}{''.join(moving)}</svg>")


def _draw_points(points: Points, marks: list[Player | str], box: Box) -> Piece:
    xs, ys = zip(*points.places, strict=True)
    widest = max(max(xs) - min(xs), max(ys) - min(ys)) or 1.0
    scale, edge = 400 / widest, 30.0
    at = [((x - min(xs)) * scale + edge, (y - min(ys)) * scale + edge) for x, y in points.places]
    lines = "".join(
        f'<line x1="{at[a][0]:.1f}" y1="{at[a][1]:.1f}" x2="{at[b][0]:.1f}" y2="{at[b][1]:.1f}" stroke="#9aa5b1" stroke-width="2"/>'
        for a, b in points.lines
    )
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="#9aa5b1"/>' for x, y in at)
    pieces = "".join(_mark(mark, x, y, 15) for mark, (x, y) in zip(marks, at, strict=False))
    frame = _frame((max(xs) - min(xs)) * scale + 2 * edge, (max(ys) - min(ys)) * scale + 2 * edge, box)
    return Piece(f"{frame}{lines}{dots}</svg>", f"{frame}{pieces}</svg>")


def _mark(mark: Player | str, x: float, y: float, radius: float) -> str:
    if mark is Player.MAXIE:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{MAXIE}"/>'
    if mark is Player.MINNIE:
        side = 1.8 * radius
        return (
            f'<rect x="{x - side / 2:.1f}" y="{y - side / 2:.1f}" width="{side:.1f}" height="{side:.1f}" '
            f'rx="{0.2 * radius:.1f}" fill="{MINNIE}"/>'
        )
    if not mark:
        return ""
    return (
        f'<text x="{x:.1f}" y="{y + 0.4 * radius:.1f}" font-size="{1.1 * radius:.1f}" text-anchor="middle" '
        f'fill="#16202b">{escape(mark[:4])}</text>'
    )


def _draw_text(text: str, box: Box) -> str:
    lines = text.splitlines()[:40]
    size = min(28.0, box.height / (1.3 * max(1, len(lines))))
    return "".join(
        f'<text x="{box.x:.1f}" y="{box.y + size * (1.3 * number + 1):.1f}" font-size="{size:.1f}" fill="#16202b" '
        f'xml:space="preserve">{escape(line[:60])}</text>'
        for number, line in enumerate(lines)
    )
