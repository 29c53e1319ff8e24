"""Pictures (PNG) and films (animated GIFs) of positions and matches.

Drawing a picture takes tenths of a second, and a film up to ten seconds. So only the page process draws, and not the
process that runs the matches.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import resvg_py
from msgspec import Struct
from msgspec.structs import replace
from PIL import Image

from arena.games.catalogue import make_game
from arena.games.core import AnyGame, GameError, UnknownGame
from arena.games.riskless import Riskless
from arena.maps.loader import load_annotated_map
from arena.match.openings import list_positions
from arena.protocol.messages import View
from arena.protocol.record import BadRecord, parse_record_line
from arena.protocol.values import PlainData
from arena.server.web import titles
from arena.server.web.pictures import TableCardRow, cards
from arena.server.web.pictures.cards import MatchCaptions
from arena.server.web.pictures.text_elements import FONT_FILE, FONT_NAME
from arena.server.web.routes import NotFound

MAX_FILM_FRAMES = 40
"""Maximum number of frames of a film (animated GIF of a match). Each frame shows the position after one ply.

A film of 40 frames lasts about 13 s.

For a match with more plies, `choose_highlight_plies` selects the plies to show.
"""
FRAME_MS, LAST_FRAME_MS = 250, 3_000
"""Display time of each frame of a film but the last one, and of the last frame, in ms."""
MAX_FILM_COLOURS = 64
"""Maximum number of colours in an animated picture."""


class PicturedMatch(Struct, frozen=True):
    """Board, moves and result of a match, as the pictures need them."""

    captions: MatchCaptions
    game: str
    setup: Mapping[str, PlainData]
    moves: Sequence[PlainData]


def draw_map(name: str) -> bytes:
    """Draw the built-in map `name` with its initial position, as PNG. Raises MapError if there is no such map."""
    return _render_png(cards.render_map_card(load_annotated_map(name)))


def draw_table(title: str, summary: str, rows: Sequence[TableCardRow]) -> bytes:
    """Draw a table as PNG, with the arguments of `cards.render_table_card`."""
    return _render_png(cards.render_table_card(title, summary, rows))


def draw_record(record_line: str, ply: int | None = None) -> bytes:
    """Draw a position of a finished match, as PNG.

    record_line: record of the match, as one line of JSON
    ply: number of plies played before the position; None for the end of the match

    Raises NotFound if the match lacks this ply, or cannot be drawn.
    """
    match = _make_match_from_record(record_line)
    if ply is not None and ply < len(match.moves):
        match = replace(match, captions=replace(match.captions, result=""))
    return _draw_match(match, ply)


def draw_live_match(live_match: View, ply: int | None = None) -> bytes:
    """Draw a position of a match in progress, as PNG.

    ply: number of plies played before the position; None for the current position

    Raises NotFound if the match lacks this ply, or cannot be drawn.
    """
    captions = MatchCaptions(
        *titles.make_bot_titles(live_match.players), titles.make_live_match_title(live_match), "in progress"
    )
    return _draw_match(
        PicturedMatch(captions, live_match.game, live_match.setup, [move.move for move in live_match.moves]),
        ply,
    )


def _draw_match(match: PicturedMatch, ply: int | None) -> bytes:
    ply_count = len(match.moves)
    shown_ply = ply_count if ply is None else ply
    if shown_ply > ply_count:
        raise NotFound(f"the ply must be from 0 to {ply_count}, the number of plies played, not {shown_ply}")
    try:
        game: AnyGame | None = make_game(match.game, match.setup)
    except GameError:
        game = None
    position = None if game is None else _replay_positions(game, match.moves[:shown_ply])[-1]
    move = match.moves[shown_ply - 1] if shown_ply else None
    return _render_png(cards.render_match_card(match.captions, game, position, move, shown_ply, ply_count))


def draw_arena_banner(record_line: str) -> bytes:
    """Draw a PNG banner: the arena's name, and a board as it stands after two thirds of a match.

    record_line: record of the match, as one line of JSON

    Raises NotFound if the match cannot be drawn.
    """
    match = _make_match_from_record(record_line)
    game = _make_game(match)
    moves = match.moves[: 2 * len(match.moves) // 3]
    return _render_png(cards.render_arena_banner(game, _replay_positions(game, moves)[-1], moves[-1]))


def draw_film(record_line: str) -> bytes:
    """Draw an animated GIF of a finished match, with the plies from `choose_highlight_plies`. Drawing takes some seconds.

    record_line: record of the match, as one line of JSON

    Raises NotFound if the match cannot be drawn.
    """
    match = _make_match_from_record(record_line)
    game = _make_game(match)
    positions = _replay_positions(game, match.moves)
    last = len(positions) - 1
    plies = choose_highlight_plies(game, positions)
    background = _render_image(cards.render_film_background(match.captions, game))
    frames = []
    for ply in plies:
        share = ply / last if last else 1.0
        move = match.moves[ply - 1] if ply else None
        frame = _render_image(cards.render_film_frame(game, positions[ply], move, share))
        frames.append(Image.alpha_composite(background, frame).convert("RGB"))
    # With one palette for all frames, unchanged parts are equal in all of them and cost nothing.
    palette = frames[len(frames) // 2].quantize(MAX_FILM_COLOURS)
    reduced_frames = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    durations_ms = [FRAME_MS] * (len(reduced_frames) - 1) + [LAST_FRAME_MS]
    buffer = io.BytesIO()
    reduced_frames[0].save(
        buffer,
        "GIF",
        save_all=True,
        append_images=reduced_frames[1:],
        duration=durations_ms,
        loop=0,
        optimize=False,
    )
    return buffer.getvalue()


def choose_highlight_plies(game: AnyGame, positions: Sequence[Any]) -> list[int]:
    """Return the plies that a film (animated GIF) shows, in order: all of a short match, at most MAX_FILM_FRAMES of a long one.

    A film of a long Riskless match shows the part in which the players' shares of the armies change most, and the last ply.
    In other games, the plies are spread evenly over the match.

    positions: positions after each ply, from the start of the match
    """
    last = len(positions) - 1
    if last < MAX_FILM_FRAMES:
        return list(range(last + 1))
    if not isinstance(game, Riskless):
        return [last * frame // (MAX_FILM_FRAMES - 1) for frame in range(MAX_FILM_FRAMES)]
    shares = [_compute_maxie_army_share(position.armies) for position in positions]
    window = MAX_FILM_FRAMES - 1
    share_changes = [
        abs(shares[window_start + window] - shares[window_start])
        for window_start in range(len(shares) - window)
    ]
    window_start = share_changes.index(max(share_changes))
    return sorted({*range(window_start, window_start + window), last})


def _compute_maxie_army_share(armies: Sequence[int]) -> float:
    """Return the first player's (Maxie's) share of all armies, from 0 to 1.

    armies: number of armies on each territory; negative on Minnie's territories
    """
    army_sum = sum(abs(n) for n in armies)
    return sum(n for n in armies if n > 0) / army_sum if army_sum else 0.5


def _make_game(match: PicturedMatch) -> AnyGame:
    """Return the game of a match. Raises NotFound if the game is unknown, or its setup invalid."""
    try:
        return make_game(match.game, match.setup)
    except GameError as error:
        # UnknownGame's whole message advises an option of the command line.
        reason = error.reason if isinstance(error, UnknownGame) else error
        raise NotFound(f"the match cannot be drawn: {reason}") from None


def _make_match_from_record(record_line: str) -> PicturedMatch:
    try:
        record = parse_record_line(record_line)
    except BadRecord as error:
        raise NotFound(f"the match cannot be drawn: {error}") from None
    conditions = titles.make_match_title(record.game, str(record.setup.get("map", "")), record.time_control)
    players = record.players
    captions = MatchCaptions(
        *titles.make_bot_titles(players), conditions, titles.make_result_title(players, record.result)
    )
    return PicturedMatch(captions, record.game, record.setup, [move.move for move in record.moves])


def _replay_positions(game: AnyGame, moves: Sequence[PlainData]) -> list[Any]:
    try:
        return list_positions(game, moves)
    except GameError as error:
        raise NotFound(f"the match cannot be drawn: {error}") from None


def _render_png(svg: str) -> bytes:
    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=svg,
            font_files=[str(FONT_FILE)],
            skip_system_fonts=True,
            font_family=FONT_NAME,
            sans_serif_family=FONT_NAME,
        )
    )


def _render_image(svg: str) -> Image.Image:
    return Image.open(io.BytesIO(_render_png(svg))).convert("RGBA")
