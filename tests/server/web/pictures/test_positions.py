"""Positions as SVG: all armies and pieces are drawn."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from arena.games.catalogue import CATALOGUE, make_game
from arena.games.riskless import Riskless
from arena.maps.land import load_built_in_land
from arena.maps.loader import load_annotated_map
from arena.maps.map_file import AnnotatedMap
from arena.maps.picture import make_map_picture
from arena.server.web.pictures.positions import Rectangle, draw_position
from tests.games.own import EXAMPLES
from tests.games.setups import random_match

BOX = Rectangle(0, 0, 700, 500)


def parse_svg(svg: str) -> ET.Element:
    return ET.fromstring(f"<svg>{svg}</svg>")


@pytest.mark.parametrize("name", ["m2", "italy", "world"])
def test_every_army_is_in_the_foreground_with_its_number(name: str) -> None:
    game = Riskless(load_annotated_map(name).map)
    match = random_match(game, 3)
    pieces = [draw_position(game, position, BOX) for position in match.positions[::7]]
    assert len({each.background for each in pieces}) == 1
    for position, piece in zip(match.positions[::7], pieces, strict=True):
        parse_svg(piece.svg)
        for kind, held in (
            ("maxie", [n for n in position.armies if n > 0]),
            ("minnie", [-n for n in position.armies if n < 0]),
        ):
            assert len(re.findall(f'class="{kind}"', piece.foreground)) == len(held)
            shape = "circle" if kind == "maxie" else "rect"
            numbers = re.findall(
                rf'<{shape} class="{kind}"[^>]*/><text class="armies"[^>]*>(\d+)<', piece.foreground
            )
            assert sorted(map(int, numbers)) == sorted(held)


def test_only_an_unchanged_built_in_map_has_its_land() -> None:
    file = load_annotated_map("italy")
    assert make_map_picture(AnnotatedMap(file.map)).land == load_built_in_land("italy")
    before = replace(file.map, armies_to_win=file.map.armies_to_win + 1)
    assert make_map_picture(AnnotatedMap(before)).annotated_map == file, (
        "other rules do not change the picture"
    )
    places = tuple((x, y + 1) for x, y in file.map.places)
    assert make_map_picture(AnnotatedMap(replace(file.map, places=places))).land is None


def test_the_last_move_is_drawn_as_an_arrow() -> None:
    game = Riskless(load_annotated_map("italy").map)
    assert 'class="move"' in draw_position(game, game.start(), BOX, [8, 19]).foreground
    assert 'class="move"' not in draw_position(game, game.start(), BOX).foreground


@pytest.mark.parametrize("name", ["tictactoe", "hexapawn", "connect4"])
def test_the_number_of_drawn_pieces_is_that_of_the_board(name: str) -> None:
    game = make_game(
        CATALOGUE.register_game(str(EXAMPLES / "connect4.py")) if name == "connect4" else name, {}
    )
    for position in random_match(game, 5).positions:
        piece = draw_position(game, position, BOX)
        parse_svg(piece.svg)
        picture = game.picture(position).upper()
        letters = "WB" if name == "hexapawn" else "XO"
        lines = [line for line in picture.splitlines() if not line.strip().startswith(("A B", "A  B"))]
        pieces_text = "".join(re.sub(r"^\s*\d+", "", line) for line in lines)
        assert piece.foreground.count("<circle") == pieces_text.count(letters[0])
        assert piece.foreground.count("<rect") == pieces_text.count(letters[1])
