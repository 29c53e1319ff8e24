"""Preview pictures as SVG: well-formed for any names, and of the right size."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from arena.games.catalogue import make_game
from arena.maps.loader import load_annotated_map
from arena.server.web.pictures import TableCardRow, cards
from arena.server.web.pictures.cards import MAX_SHOWN_TABLE_ROWS, MatchCaptions

NAMES = st.text(max_size=64)


def size(svg: str) -> tuple[str | None, str | None]:
    root = ET.fromstring(svg)
    return root.get("width"), root.get("height")


@given(NAMES, NAMES)
def test_a_card_is_well_formed_for_any_names_of_bots(maxie: str, minnie: str) -> None:
    game = make_game("tictactoe", {})
    match = MatchCaptions(maxie, minnie, "Tic-tac-toe, 1+0", f"{maxie} won with three in a row")
    assert size(cards.render_match_card(match, game, game.start(), None, 0, 5)) == ("1200", "630")
    assert size(cards.render_match_card(match, None, None, None, 0, 5)) == ("1200", "630")
    assert size(cards.render_film_background(match, game)) == ("600", "450")


@given(NAMES, st.lists(st.builds(TableCardRow, NAMES, NAMES, st.floats(-1, 2)), max_size=12))
def test_a_table_has_a_limited_number_of_bars(title: str, rows: list[TableCardRow]) -> None:
    svg = cards.render_table_card(title, "", rows)
    assert size(svg) == ("1200", "630")
    assert svg.count("<rect") == 1 + min(len(rows), MAX_SHOWN_TABLE_ROWS)


def test_the_bar_of_armies_has_the_right_proportions() -> None:
    game = make_game("riskless", load_annotated_map("m2").map.to_data())
    start = game.start()
    bar = cards.render_film_frame(game, start, None, 0.5)
    widths = [
        float(each.get("width") or 0)
        for each in ET.fromstring(bar)
        if each.tag.endswith("rect") and each.get("height") == "8"
    ]
    maxie = sum(n for n in start.armies if n > 0)  # type: ignore[attr-defined]
    minnie = -sum(n for n in start.armies if n < 0)  # type: ignore[attr-defined]
    assert abs(widths[0] / widths[1] - maxie / minnie) < 0.01


def test_the_card_of_a_map_has_its_name_and_description() -> None:
    file = load_annotated_map("usa")
    svg = cards.render_map_card(file)
    assert ">USA<" in svg
    assert file.description in svg
