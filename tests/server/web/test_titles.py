"""Titles of bots, matches and results."""

from __future__ import annotations

import pytest

from arena.protocol.codes import EndReason
from arena.protocol.record import Result
from arena.protocol.values import Players
from arena.server.web.titles import make_bot_title, make_match_title, make_result_title


@pytest.mark.parametrize("reason", list(EndReason))
def test_every_result_has_its_winner_or_none(reason: EndReason) -> None:
    players = Players("anna", "bert")
    if reason is EndReason.SERVER_FAULT:
        assert make_result_title(players, Result(None, reason)) == "void"
        return
    assert make_result_title(players, Result("minnie", reason)).startswith("bert won")
    assert make_result_title(players, Result(None, reason)).startswith("draw")
    assert "_" not in make_result_title(players, Result(None, reason))


def test_a_title_has_the_map_and_the_time_control() -> None:
    assert make_match_title("riskless", "usa", "10+0.1") == "USA, 10+0.1"
    assert make_match_title("my-game", "", "1/move") == "my-game, 1/move"


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("house-alphabeta", "House AlphaBeta"),
        ("house-minimax-2", "House Minimax 2"),
        ("house-", "house-"),
        ("greenhouse-greedy", "greenhouse-greedy"),
        ("alphabeta", "alphabeta"),
    ],
)
def test_only_the_servers_own_bots_have_titles(name: str, title: str) -> None:
    assert make_bot_title(name) == title
    assert make_result_title(Players(name, "bert"), Result("maxie", EndReason.RESIGNATION)).startswith(
        f"{title} won by resignation"
    )
