"""SVG of a position of any game, scaled to fit a rectangle: a map with armies, or a board with pieces."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

from arena.games.boards import Grid, Points
from arena.games.core import Game, Player
from arena.games.riskless import Riskless
from arena.maps.map_file import AnnotatedMap
from arena.maps.picture import MAXIE_COLOUR, MINNIE_COLOUR, PICTURE_STYLE, make_map_picture

MIN_PIXELS_PER_MAP_UNIT = 1.1
"""Minimum scale of armies and arrows, in pixels per unit of the map, so that they stay visible on a map drawn smaller."""


class Rectangle(NamedTuple):
    """Rectangle in a picture, in pixels, with its upper left corner at (x, y)."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class PositionSvg:
    """SVG of a position in two layers: a background, which is the same for all positions of a match, and the rest."""

    background: str
    """SVG of the lower layer, which is the same for all positions of a match: the board or the map."""
    foreground: str
    """SVG of the upper layer, with the pieces or armies."""

    @property
    def svg(self) -> str:
        """SVG of the whole picture: `foreground` drawn over `background`."""
        return self.background + self.foreground


def draw_position(game: Game[Any, Any], position: Any, box: Rectangle, move: Any = None) -> PositionSvg:
    """Draw a position within the rectangle `box`. On a map, also draw `move`, the move that led to the position.

    For a game that declares no `Game.board`, draw the text of `Game.picture`.
    """
    if isinstance(game, Riskless):
        return _draw_map(game, position, move, box)
    board, marks = game.board, list(game.marks(position))
    if isinstance(board, Grid):
        return _draw_grid(board, marks, box)
    if isinstance(board, Points):
        return _draw_points(board, marks, box)
    return PositionSvg("", _draw_text(game.picture(position), box))


def _draw_map(game: Riskless, position: Any, move: Any, box: Rectangle) -> PositionSvg:
    picture = make_map_picture(AnnotatedMap(game.map))
    width, height = picture.size_px
    frame = _render_svg_start_tag(width, height, box)
    mark_scale = max(1.0, MIN_PIXELS_PER_MAP_UNIT / min(box.width / width, box.height / height))
    arrow = "" if move is None else picture.render_arrow(move[0], move[1], mark_scale)
    areas = picture.render_areas(position.armies, mark_scale)
    marks = f"{areas}{arrow}{picture.render_army_marks(position.armies, mark_scale)}"
    return PositionSvg(
        f"{frame}{PICTURE_STYLE}{picture.sea_and_land_svg}</svg>", f"{frame}{PICTURE_STYLE}{marks}</svg>"
    )


def _render_svg_start_tag(width: float, height: float, box: Rectangle) -> str:
    """Return the start tag of an `svg` element that scales content of size `width` × `height` to fit a rectangle."""
    return (
        f'<svg x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" '
        f'viewBox="0 0 {width:.1f} {height:.1f}">'
    )


def _draw_grid(grid: Grid, cell_marks: list[Player | str], box: Rectangle) -> PositionSvg:
    side = 60.0
    background, foreground = [], []
    for cell in range(grid.cell_count):
        row, column = divmod(cell, grid.columns)
        x, y = column * side, (grid.rows - 1 - row if grid.a1_below else row) * side
        is_dark = grid.checkered and (row + column) % 2 == 0
        background.append(
            f'<rect x="{x + 1:.1f}" y="{y + 1:.1f}" width="{side - 2}" height="{side - 2}" rx="4" '
            f'fill="{"#d9dfe6" if is_dark else "#ffffff"}" stroke="#9aa5b1"/>'
        )
        foreground.append(
            _render_mark(
                cell_marks[cell] if cell < len(cell_marks) else "", x + side / 2, y + side / 2, 0.34 * side
            )
        )
    frame = _render_svg_start_tag(grid.columns * side, grid.rows * side, box)
    return PositionSvg(f"{frame}{''.join(background)}</svg>", f"{frame}{''.join(foreground)}</svg>")


def _draw_points(points: Points, point_marks: list[Player | str], box: Rectangle) -> PositionSvg:
    xs, ys = zip(*points.places, strict=True)
    widest = max(max(xs) - min(xs), max(ys) - min(ys)) or 1.0
    scale, margin = 400 / widest, 30.0
    pixels = [((x - min(xs)) * scale + margin, (y - min(ys)) * scale + margin) for x, y in points.places]
    lines = "".join(
        f'<line x1="{pixels[a][0]:.1f}" y1="{pixels[a][1]:.1f}" x2="{pixels[b][0]:.1f}" y2="{pixels[b][1]:.1f}" stroke="#9aa5b1" stroke-width="2"/>'
        for a, b in points.lines
    )
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="#9aa5b1"/>' for x, y in pixels)
    pieces = "".join(_render_mark(mark, x, y, 15) for mark, (x, y) in zip(point_marks, pixels, strict=False))
    frame = _render_svg_start_tag(
        (max(xs) - min(xs)) * scale + 2 * margin, (max(ys) - min(ys)) * scale + 2 * margin, box
    )
    return PositionSvg(f"{frame}{lines}{dots}</svg>", f"{frame}{pieces}</svg>")


def _render_mark(mark: Player | str, x: float, y: float, radius: float) -> str:
    if mark is Player.MAXIE:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{MAXIE_COLOUR}"/>'
    if mark is Player.MINNIE:
        side = 1.8 * radius
        return (
            f'<rect x="{x - side / 2:.1f}" y="{y - side / 2:.1f}" width="{side:.1f}" height="{side:.1f}" '
            f'rx="{0.2 * radius:.1f}" fill="{MINNIE_COLOUR}"/>'
        )
    if not mark:
        return ""
    return (
        f'<text x="{x:.1f}" y="{y + 0.4 * radius:.1f}" font-size="{1.1 * radius:.1f}" text-anchor="middle" '
        f'fill="#16202b">{escape(mark[:4])}</text>'
    )


def _draw_text(picture_text: str, box: Rectangle) -> str:
    lines = picture_text.splitlines()[:40]
    font_size = min(28.0, box.height / (1.3 * max(1, len(lines))))
    return "".join(
        f'<text x="{box.x:.1f}" y="{box.y + font_size * (1.3 * number + 1):.1f}" font-size="{font_size:.1f}" fill="#16202b" '
        f'xml:space="preserve">{escape(line[:60])}</text>'
        for number, line in enumerate(lines)
    )
