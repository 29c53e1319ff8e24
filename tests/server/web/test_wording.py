"""Matches in the words of a title."""

from __future__ import annotations

import pytest

from arena.protocol.codes import EndReason
from arena.protocol.record import Result
from arena.protocol.values import Players
from arena.server.web.wording import ended, played


@pytest.mark.parametrize("reason", list(EndReason))
def test_every_end_is_told_with_its_winner_where_it_has_one(reason: EndReason) -> None:
    players = Players("anna", "bert")
    if reason is EndReason.SERVER_FAULT:
        assert ended(players, Result(None, reason)) == "void"
        return
    assert ended(players, Result("minnie", reason)).startswith("bert won: ")
    assert ended(players, Result(None, reason)).startswith("draw: ")
    assert "_" not in ended(players, Result(None, reason))


def test_a_match_says_what_is_played() -> None:
    assert played("riskless", "usa", "10+0.1") == "Riskless usa, 10+0.1"
    assert played("my-game", "", "1/move") == "my-game, 1/move"
