"""bots.review.analysis: an engine that deepens and a reference algorithm tell the same values."""

from __future__ import annotations

import pytest

from arena.bots.api.options import BadSpec
from arena.bots.review.analysis import DEEPENING, REFERENCE, analyse, line_path, parse_engine
from arena.maps.setup import make_setup

GAME = make_setup("riskless", "path4")


@pytest.mark.parametrize("depth", [1, 3, 5])
def test_every_engine_and_every_algorithm_has_minimaxs_value(depth: int) -> None:
    start = GAME.start()
    value = analyse(GAME, start, depth, "minimax", fixed=True).last.value
    for name in DEEPENING:
        assert analyse(GAME, start, depth, name).last.value == value, name
    for name in REFERENCE:
        assert analyse(GAME, start, depth, name, fixed=True).last.value == value, name


def test_an_engine_reports_every_depth_and_keeps_the_trace_of_the_last() -> None:
    found = analyse(GAME, GAME.start(), 4, "alphabeta", tracing=True)
    assert [report.depth for report in found.reports] == [1, 2, 3, 4]
    assert found.watch.events
    assert found.watch.nodes < found.last.nodes


def test_the_path_of_a_line_leads_along_its_moves() -> None:
    line = analyse(GAME, GAME.start(), 4, "alphabeta").last.line
    position = GAME.start()
    for index, move in zip(line_path(GAME, position, line), line, strict=True):
        assert GAME.moves(position)[index] == move
        position = GAME.successor(position, move)


def test_where_both_have_the_name_the_caller_decides() -> None:
    assert parse_engine("alphabeta", fixed=False)[1] is False
    assert parse_engine("alphabeta", fixed=True)[1] is True
    assert parse_engine("clamped", fixed=False)[1] is True
    with pytest.raises(BadSpec):
        parse_engine("nobody", fixed=False)
