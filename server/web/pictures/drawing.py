"""Draws pictures, in a process of its own (`python -m arena.server.web.pictures`): tenths of a second each, a film up to ten seconds."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import resvg_py
from PIL import Image

from arena.games.catalogue import make_game
from arena.games.core import AnyGame, GameError
from arena.maps.loader import load_file
from arena.protocol.record import BadRecord, from_line
from arena.protocol.values import Data
from arena.server.web import wording
from arena.server.web.pictures import cards
from arena.server.web.pictures.jobs import (
    WIDTH,
    DrawFilm,
    DrawLive,
    DrawMap,
    DrawRecord,
    DrawTable,
    Job,
    MatchWords,
)
from arena.server.web.pictures.lettering import FONT, FONT_FILE

FILM = 600, 450
"""Width and height of a film."""
MOST_FRAMES = 160
"""Pictures of a film: of a match with more plies it leaves out as many between two of them."""
FRAME_MS, LAST_MS = 250, 3_000
COLOURS = 64


class NoPicture(Exception):
    """Nothing can be drawn of what was asked for; the text says why in one line."""


def draw(job: Job) -> bytes:
    """The picture that was asked for. Raises NoPicture."""
    match job:
        case DrawRecord(line, ply):
            return _match(_of_record(line, ply))
        case DrawLive():
            return _match(job)
        case DrawFilm(line):
            return _film(_of_record(line))
        case DrawMap(name):
            return _png(cards.map_card(load_file(name)), WIDTH)
        case DrawTable():
            return _png(cards.table_card(job), WIDTH)


def _match(told: DrawLive) -> bytes:
    plies = len(told.moves)
    at = plies if told.ply is None else told.ply
    if at > plies:
        raise NoPicture(f"the match has {plies} plies, not {at}")
    game = _game(told)
    position = _positions(game, told.moves[:at])[-1] if game is not None else None
    return _png(cards.match_card(told.match, game, position, at, plies), WIDTH)


def _film(told: DrawLive) -> bytes:
    game = _game(told)
    if game is None:
        raise NoPicture(f"there is no board of {told.game!r:.40} to draw")
    positions = _positions(game, told.moves)
    last = len(positions) - 1
    step = -(-len(positions) // MOST_FRAMES)
    plies = [*range(0, last, step), last]
    width, height = FILM
    ground = _image(cards.film_ground(told.match, game, width, height), width)
    frames = []
    for ply in plies:
        share = ply / last if last else 1.0
        frame = _image(cards.film_frame(game, positions[ply], width, height, share), width)
        frames.append(Image.alpha_composite(ground, frame).convert("RGB"))
    # One palette for all: what does not change is then the same from picture to picture, and costs nothing.
    palette = frames[len(frames) // 2].quantize(COLOURS)
    reduced = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    times = [FRAME_MS] * (len(reduced) - 1) + [LAST_MS]
    out = io.BytesIO()
    reduced[0].save(
        out, "GIF", save_all=True, append_images=reduced[1:], duration=times, loop=0, optimize=False
    )
    return out.getvalue()


def _game(told: DrawLive) -> AnyGame | None:
    """The game of a match; None for one of somebody's own, which only the server's process knows."""
    try:
        return make_game(told.game, told.setup)
    except GameError:
        return None


def _of_record(line: str, ply: int | None = None) -> DrawLive:
    try:
        record = from_line(line)
    except BadRecord as error:
        raise NoPicture(f"the match cannot be drawn: {error}") from None
    about = wording.played(record.game, str(record.setup.get("map", "")), record.time_control)
    players = record.players
    match = MatchWords(players.maxie, players.minnie, about, wording.ended(players, record.result))
    return DrawLive(match, record.game, record.setup, [each.move for each in record.moves], ply)


def _positions(game: AnyGame, moves: Sequence[Data]) -> list[Any]:
    positions = [game.start()]
    try:
        for move in moves:
            positions.append(game.play(positions[-1], game.move_from_data(move)))
    except GameError as error:
        raise NoPicture(f"the match cannot be drawn: {error}") from None
    return positions


def _png(svg: str, width: int) -> bytes:
    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=svg,
            width=width,
            font_files=[str(FONT_FILE)],
            skip_system_fonts=True,
            font_family=FONT,
            sans_serif_family=FONT,
        )
    )


def _image(svg: str, width: int) -> Image.Image:
    return Image.open(io.BytesIO(_png(svg, width))).convert("RGBA")
