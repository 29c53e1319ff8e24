"""PNG and GIF of real matches, parsed by another library."""

from __future__ import annotations

import io
import re
from itertools import pairwise

import pytest
from PIL import Image

from arena.maps.game_on_map import make_game_on_map
from arena.protocol.messages import Played, View
from arena.protocol.record import format_record_line
from arena.protocol.timecontrol import TimeControl
from arena.protocol.values import Clocks, Players
from arena.server.web.pictures import (
    FILM_HEIGHT,
    FILM_WIDTH,
    PREVIEW_HEIGHT,
    PREVIEW_WIDTH,
    TableCardRow,
    drawing,
)
from arena.server.web.routes import NotFound
from tests.match.recorded import random_record


def line(game: str = "riskless", map: str = "path4", most: int = 400) -> str:
    record, _ = random_record(make_game_on_map(game, map), 2, most)
    return format_record_line(record)


def image(body: bytes) -> Image.Image:
    return Image.open(io.BytesIO(body))


def test_each_ply_of_a_match_has_a_picture_of_the_right_size() -> None:
    record_line = line()
    start, last = drawing.draw_record(record_line, 0), drawing.draw_record(record_line)
    assert image(start).format == "PNG"
    assert image(start).size == (PREVIEW_WIDTH, PREVIEW_HEIGHT)
    assert start != last


def test_only_the_picture_of_the_end_tells_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(drawing, "_render_png", told.append)
    for ply in (0, 1, None):
        drawing.draw_record(line(most=3), ply)
    assert [re.search("won|draw", svg) is not None for svg in told] == [False, False, True]


def test_a_ply_beyond_the_end_has_no_picture() -> None:
    with pytest.raises(NotFound, match=r"must be from 0 to 3, the number of plies played, not 4"):
        drawing.draw_record(line(most=3), 4)


def test_a_film_has_a_frame_for_each_ply_and_a_longer_last_one() -> None:
    film = image(drawing.draw_film(line(most=5)))
    assert film.format == "GIF"
    assert film.size == (FILM_WIDTH, FILM_HEIGHT)
    assert film.n_frames == 6  # type: ignore[attr-defined]
    rows = []
    for frame in range(6):
        film.seek(frame)
        rows.append((film.info["duration"], film.convert("RGB").tobytes()))
    assert [each for each, _ in rows] == [drawing.FRAME_MS] * 5 + [drawing.LAST_FRAME_MS]
    assert len({body for _, body in rows}) == 6


@pytest.mark.parametrize("count", [1, 39, 40, 41, 79, 80, 81, 401])
def test_a_film_of_another_game_has_at_most_40_evenly_spread_frames(count: int) -> None:
    plies = drawing.choose_highlight_plies(make_game_on_map("tictactoe", ""), [None] * count)
    assert len(plies) == min(count, 40)
    assert (plies[0], plies[-1]) == (0, count - 1)
    steps = {after - before for before, after in pairwise(plies)}
    assert all(step > 0 for step in steps)
    assert not steps or max(steps) - min(steps) <= 1


def live_view() -> View:
    moves = [Played(4, 1.0), Played(0, 1.0)]
    players, control = Players("anna", "bert"), TimeControl.parse("1+0")
    return View("m", "e", "tictactoe", {}, players, control, moves, Clocks(1, 1), "maxie")


def test_a_match_in_progress_is_drawn_from_the_public_view() -> None:
    assert image(drawing.draw_live_match(live_view())).size == (PREVIEW_WIDTH, PREVIEW_HEIGHT)


def test_each_picture_of_a_match_in_progress_says_that_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    monkeypatch.setattr(drawing, "_render_png", drawn.append)
    for ply in (0, 1, None):
        drawing.draw_live_match(live_view(), ply)
    assert ["in progress" in svg for svg in drawn] == [True] * 3


def test_a_match_of_an_unknown_game_has_a_card_without_board_and_no_film() -> None:
    record_line = line("tictactoe", most=3).replace('"tictactoe"', '"nobodys-game"')
    assert image(drawing.draw_record(record_line, 2)).format == "PNG"
    with pytest.raises(NotFound, match="cannot be drawn"):
        drawing.draw_film(record_line)


def test_an_invalid_record_is_reported_in_one_line() -> None:
    with pytest.raises(NotFound, match="cannot be drawn"):
        drawing.draw_film("{}")


def test_maps_and_tables_have_pictures() -> None:
    for made in (drawing.draw_map("m2"), drawing.draw_table("Ladder", "", [TableCardRow("a", "1", 0.5)])):
        assert image(made).size == (PREVIEW_WIDTH, PREVIEW_HEIGHT)
