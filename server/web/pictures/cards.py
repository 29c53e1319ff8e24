"""Pictures for link previews, as SVG documents.

Coordinates and sizes are in pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from arena.games.core import AnyGame
from arena.games.riskless import Riskless
from arena.maps.map_file import AnnotatedMap
from arena.maps.picture import MAXIE_COLOUR, MINNIE_COLOUR
from arena.server.web.pictures import FILM_HEIGHT, FILM_WIDTH, PREVIEW_HEIGHT, PREVIEW_WIDTH, TableCardRow
from arena.server.web.pictures.positions import Rectangle, draw_position
from arena.server.web.pictures.text_elements import FONT_NAME, MUTED, render_text
from arena.server.web.titles import make_map_title

CARD_MARGIN_PX = 40
"""Distance of texts and boards from the edges of a picture, in pixels; half of it at the sides of a match's picture."""
MAX_SHOWN_TABLE_ROWS = 8
"""Maximum number of rows of a table that a picture shows."""
SIDE_PANEL_X, SIDE_PANEL_WIDTH = 780, 400
"""Left end and width of the texts beside the board of a match, in pixels."""
FILM_BOARD_BOX = Rectangle(8, 56, FILM_WIDTH - 16, FILM_HEIGHT - 68)
"""Rectangle of the board in each frame of a film (animated picture of a match)."""


class MatchCaptions(Struct, frozen=True):
    """Texts about a match, for its pictures."""

    maxie: str
    """Title of Maxie (the player who moves first), such as the name of the bot."""
    minnie: str
    """Title of Minnie (the second player), such as the name of the bot."""
    conditions: str
    """Game, map and time control."""
    result: str
    """Result if the picture shows the end of the match; `in progress` if the match is not finished; otherwise empty."""


def render_arena_banner(game: AnyGame, position: Any, move: Any) -> str:
    """Return the server's general preview picture as SVG: the arena's name beside a position of a match.

    move: move that led to the position; None at the start of the match
    """
    box = Rectangle(520, 40, PREVIEW_WIDTH - 560, PREVIEW_HEIGHT - 80)
    return _render_svg_document(
        [
            render_text(CARD_MARGIN_PX, 220, 64, "Riskless Arena", 460),
            render_text(CARD_MARGIN_PX, 290, 34, "Bots fight over maps.", 460, MUTED),
            render_text(CARD_MARGIN_PX, 340, 34, "Watch them, or play one.", 460, MUTED),
            draw_position(game, position, box, move).svg,
        ]
    )


def render_table_card(title: str, summary: str, rows: Sequence[TableCardRow]) -> str:
    """Return the picture of a table as SVG.

    summary: line below the title
    rows: rows of the table, of which only the first MAX_SHOWN_TABLE_ROWS are shown
    """
    parts = [
        render_text(CARD_MARGIN_PX, 110, 60, title, PREVIEW_WIDTH - 2 * CARD_MARGIN_PX),
        render_text(CARD_MARGIN_PX, 165, 30, summary, PREVIEW_WIDTH - 2 * CARD_MARGIN_PX, MUTED),
    ]
    for number, row in enumerate(rows[:MAX_SHOWN_TABLE_ROWS]):
        y = 235 + number * 45
        bar_width = max(4.0, 420 * min(1.0, max(0.0, row.relative_bar_length)))
        parts += [
            render_text(CARD_MARGIN_PX, y, 28, row.name, 480),
            f'<rect x="540" y="{y - 22}" width="{bar_width:.1f}" height="26" rx="4" fill="{MAXIE_COLOUR}"/>',
            render_text(980, y, 28, row.number_text, 180, MUTED),
        ]
    return _render_svg_document([*parts, _render_brand_element()])


def render_match_card(
    captions: MatchCaptions, game: AnyGame | None, position: Any, move: Any, ply: int, ply_count: int
) -> str:
    """Return the picture of a match after `ply` of its `ply_count` plies as SVG: the board and texts.

    game: game of the match; None if the game is unknown, for a picture that has only texts
    move: move that led to the position; None at the start of the match
    """
    board = _render_board_elements(game, position, move)
    return _render_svg_document(
        [
            *_render_side_panel_elements(captions, f"move {ply} of {ply_count}"),
            *board,
            _render_brand_element(),
        ]
    )


def render_map_card(file: AnnotatedMap) -> str:
    """Return the picture of a map with the initial position as SVG."""
    map = file.map
    game = Riskless(map)
    box = Rectangle(CARD_MARGIN_PX, 130, PREVIEW_WIDTH - 2 * CARD_MARGIN_PX, 450)
    detail = f"{map.territory_count} territories, {map.armies_to_win} armies to win, at most {map.territory_cap} on each"
    return _render_svg_document(
        [
            render_text(CARD_MARGIN_PX, 75, 50, make_map_title(map.name), 600),
            render_text(
                CARD_MARGIN_PX, 115, 24, file.description or detail, PREVIEW_WIDTH - 2 * CARD_MARGIN_PX, MUTED
            ),
            draw_position(game, game.start(), box).svg,
            _render_brand_element(),
        ]
    )


def render_film_background(captions: MatchCaptions, game: AnyGame) -> str:
    """Return the background of all frames of a film (animated picture) as SVG: the players' names, the board without pieces."""
    middle = FILM_WIDTH / 2
    names = [
        *_render_name_elements(captions.maxie, 16, 30, 20, middle - 30, MAXIE_COLOUR),
        *_render_name_elements(
            captions.minnie, middle + 8, 30, 20, middle - 30, MINNIE_COLOUR, has_square_mark=True
        ),
    ]
    background = draw_position(game, game.start(), FILM_BOARD_BOX).background
    return _render_svg_document([*names, background], FILM_WIDTH, FILM_HEIGHT)


def render_film_frame(game: AnyGame, position: Any, move: Any, played_share: float) -> str:
    """Return a frame of a film (animated picture of a match) as SVG, without background: pieces, armies and a progress bar.

    move: move that led to the position; None at the start of the match
    played_share: part of the match that has been played, from 0 to 1
    """
    foreground = draw_position(game, position, FILM_BOARD_BOX, move).foreground
    bar = f'<rect x="0" y="{FILM_HEIGHT - 6}" width="{FILM_WIDTH * played_share:.1f}" height="6" fill="#0f6b5c"/>'
    return _render_svg_document(
        [foreground, bar, *_render_armies_bar_elements(game, position, 16, 40, FILM_WIDTH - 32, 8)],
        FILM_WIDTH,
        FILM_HEIGHT,
        background="",
    )


def _render_board_elements(game: AnyGame | None, position: Any, move: Any) -> list[str]:
    if game is None:
        return []
    box = Rectangle(CARD_MARGIN_PX / 2, CARD_MARGIN_PX, 720, PREVIEW_HEIGHT - 2 * CARD_MARGIN_PX)
    return [
        f'<rect x="{box.x}" y="{box.y}" width="{box.width}" height="{box.height}" rx="16" fill="#ffffff"/>',
        draw_position(
            game, position, Rectangle(box.x + 16, box.y + 16, box.width - 32, box.height - 32), move
        ).svg,
        *_render_armies_bar_elements(game, position, SIDE_PANEL_X, 420, SIDE_PANEL_WIDTH - 20, 22),
    ]


def _render_side_panel_elements(captions: MatchCaptions, progress_text: str) -> list[str]:
    return [
        *_render_name_elements(captions.maxie, SIDE_PANEL_X, 120, 40, SIDE_PANEL_WIDTH - 20, MAXIE_COLOUR),
        render_text(SIDE_PANEL_X, 175, 26, "against", SIDE_PANEL_WIDTH, MUTED),
        *_render_name_elements(
            captions.minnie, SIDE_PANEL_X, 230, 40, SIDE_PANEL_WIDTH - 20, MINNIE_COLOUR, has_square_mark=True
        ),
        render_text(SIDE_PANEL_X, 310, 26, captions.conditions, SIDE_PANEL_WIDTH, MUTED),
        render_text(SIDE_PANEL_X, 355, 26, captions.result, SIDE_PANEL_WIDTH),
        render_text(SIDE_PANEL_X, 395, 22, progress_text, SIDE_PANEL_WIDTH, MUTED),
    ]


def _render_name_elements(
    name: str,
    x: float,
    y: float,
    font_size: float,
    width: float,
    colour: str,
    *,
    has_square_mark: bool = False,
) -> list[str]:
    radius = 0.36 * font_size
    shape = (
        f'<rect x="{x:.1f}" y="{y - 2 * radius:.1f}" width="{2 * radius:.1f}" height="{2 * radius:.1f}" rx="3" fill="{colour}"/>'
        if has_square_mark
        else f'<circle cx="{x + radius:.1f}" cy="{y - radius:.1f}" r="{radius:.1f}" fill="{colour}"/>'
    )
    return [shape, render_text(x + 2.8 * radius, y, font_size, name, width - 2.8 * radius)]


def _render_armies_bar_elements(
    game: AnyGame, position: Any, x: float, y: float, width: float, height: float
) -> list[str]:
    """Return the SVG elements of a bar that shows each player's share of all armies; none for a game without armies."""
    if not isinstance(game, Riskless):
        return []
    maxie = sum(n for n in position.armies if n > 0)
    minnie = -sum(n for n in position.armies if n < 0)
    boundary = width * maxie / max(1, maxie + minnie)
    bar = [
        f'<rect x="{x}" y="{y}" width="{boundary:.1f}" height="{height}" fill="{MAXIE_COLOUR}"/>',
        f'<rect x="{x + boundary:.1f}" y="{y}" width="{width - boundary:.1f}" height="{height}" fill="{MINNIE_COLOUR}"/>',
    ]
    if height >= 20:
        bar.append(render_text(x, y + height + 34, 24, f"{maxie} against {minnie} armies", width, MUTED))
    return bar


def _render_brand_element() -> str:
    return render_text(PREVIEW_WIDTH - 290, PREVIEW_HEIGHT - 24, 26, "Riskless Arena", 270, MUTED)


def _render_svg_document(
    elements: Sequence[str],
    width: int = PREVIEW_WIDTH,
    height: int = PREVIEW_HEIGHT,
    *,
    background: str = "#f6f7f9",
) -> str:
    background_rectangle = (
        f'<rect width="{width}" height="{height}" fill="{background}"/>' if background else ""
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="{FONT_NAME}">{background_rectangle}{"".join(elements)}</svg>'
    )
