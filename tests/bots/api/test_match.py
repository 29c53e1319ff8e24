"""bots.api.match: how an ending reads for each seat."""

import pytest

from arena.bots.api.match import Ending, Match, Standing
from arena.games.core import Player
from arena.games.tictactoe import TicTacToe
from arena.protocol.codes import EndReason

MAXIE, MINNIE = Player.MAXIE, Player.MINNIE


@pytest.mark.parametrize(
    ("winner", "reason", "maxie", "minnie"),
    [
        (MAXIE, EndReason.LINE, "won", "lost"),
        (MINNIE, EndReason.NO_SHOW, "lost", "won"),
        (None, EndReason.BOARD_FULL, "drawn", "drawn"),
        (None, EndReason.NO_SHOW, "void", "void"),
        (None, EndReason.SERVER_FAULT, "void", "void"),
        (None, None, "void", "void"),
    ],
)
def test_standings(
    winner: Player | None, reason: EndReason | None, maxie: Standing, minnie: Standing
) -> None:
    ending = Ending(winner, reason, "", 9, None)
    assert (ending.standing(MAXIE), ending.standing(MINNIE)) == (maxie, minnie)


def test_an_ending_says_more_only_where_there_is_more() -> None:
    assert str(Ending(MAXIE, EndReason.LINE, EndReason.LINE.meaning, 5, None)) == "line, 5 plies"
    assert str(Ending(MAXIE, EndReason.TIMEOUT, "3 ms late", 5, None)) == "timeout, 5 plies: 3 ms late"
    assert str(Ending(None, None, "nobody knows", 5, None)) == "nobody knows"


def test_the_opponent_is_the_other_name() -> None:
    assert Match(TicTacToe(), MAXIE, maxie="me", minnie="you").opponent == "you"
    assert Match(TicTacToe(), MINNIE, maxie="you", minnie="me").opponent == "you"
