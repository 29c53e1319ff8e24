from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from arena.bots.review.review import ReviewedMove
from arena.bots.review.values_chart import render_values_chart

SVG = "{http://www.w3.org/2000/svg}"


def reviewed_move(ply: int, lost: float) -> ReviewedMove:
    player = "maxie" if ply % 2 == 0 else "minnie"
    values = {"preferred_value": 100 if lost else 0, "played_value": 0, "value_lost": 100 if lost else 0}
    return ReviewedMove(
        ply,
        player,
        "a > b",
        "b > a",
        **values,
        reported_value=10.0 * ply,
        winning_chance=0.5,
        chance_lost=lost,
        mark="?" if lost else "",
        main_line=["b > a"] if lost else [],
    )


def test_every_marked_move_is_a_dot_with_the_better_move_as_tooltip() -> None:
    moves = [reviewed_move(ply, 0.1 if ply in (1, 4) else 0) for ply in range(6)]
    picture = ET.fromstring(render_values_chart(moves, "<one> - two", ("<one>", "two"), "alphabeta"))
    tips = [tip.text for tip in picture.iter(f"{SVG}title")]
    assert tips == ["ply 1: a > b, better b > a", "ply 4: a > b, better b > a"]
    texts = {"".join(text.itertext()) for text in picture.iter(f"{SVG}text")}
    assert {"<one> - two", "<one>", "two", "alphabeta", "?"} <= texts


def test_a_match_without_a_move_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match="no move was played"):
        render_values_chart([], "empty", ("one", "two"), "alphabeta")
