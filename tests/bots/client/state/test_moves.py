import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import UNSET

from arena.bots.api.bot import Match, Thinking
from arena.bots.client.state.moves import MAX_ABSOLUTE_SEARCH_VALUE, InvalidMoveValue, make_move_message
from arena.games.core import Player
from arena.games.tictactoe import TicTacToe
from arena.maps.game_on_map import make_game_on_map
from arena.protocol.codec import decode_client_message, encode_message
from arena.protocol.messages import Move

TICTACTOE = Match(TicTacToe(), Player.MAXIE, id="m")
RISKLESS = Match(make_game_on_map("riskless", "m1"), Player.MAXIE, id="m")


def test_a_legal_move_is_sent_without_a_warning() -> None:
    message, warnings = make_move_message(TICTACTOE, 0, TICTACTOE.game.start(), 4, None)
    assert message == Move("m", 0, 4)
    assert warnings == []


def test_an_illegal_move_is_sent_and_its_author_is_shown_legal_moves() -> None:
    position = TICTACTOE.game.play(TICTACTOE.game.start(), 4)
    message, warnings = make_move_message(TICTACTOE, 1, position, 4, None)
    assert message.move == 4
    assert warnings == [
        "choose returned at ply 1 an illegal move b2: b2 is taken by X; legal: a1, b1, c1, a2, c2, a3, b3, c3"
    ]


@pytest.mark.parametrize("match", [TICTACTOE, RISKLESS], ids=["tictactoe", "riskless"])
@pytest.mark.parametrize("nonsense", [None, "b2", 1.5, object(), (1,), (0, None), {"a": 1}, [[0], [1]], True])
def test_an_invalid_move_is_a_bad_choice(match: Match, nonsense: object) -> None:
    with pytest.raises(InvalidMoveValue, match=r"choose returned .*, which is not a move of"):
        make_move_message(match, 0, match.game.start(), nonsense, None)


def test_an_error_names_the_legal_moves() -> None:
    for match, reason in (
        (RISKLESS, "one is (3, 4)"),
        (TICTACTOE, "a move of tictactoe must be a whole number"),
    ):
        with pytest.raises(InvalidMoveValue) as raised:
            make_move_message(match, 0, match.game.start(), None, None)
        assert reason in str(raised.value)
        assert "NoneType" not in str(raised.value)


def test_a_list_is_accepted_as_a_pair() -> None:
    move = RISKLESS.game.moves(RISKLESS.game.start())[0]
    message, warnings = make_move_message(RISKLESS, 0, RISKLESS.game.start(), list(move), None)
    assert (message.move, warnings) == (list(move), [])


numbers = st.none() | st.integers() | st.floats()


@example(depth=10**9, value=None, nodes=2**64, length=0)
@given(
    depth=st.none() | st.integers(),
    value=numbers,
    nodes=st.none() | st.integers(),
    length=st.integers(0, 200),
)
def test_any_analysis_can_be_encoded(
    depth: int | None, value: float | None, nodes: int | None, length: int
) -> None:
    thinking = Thinking(depth, value, nodes, [4] * length)
    message, _ = make_move_message(TICTACTOE, 0, TICTACTOE.game.start(), 4, thinking)
    assert decode_client_message(encode_message(message)) == message
    if message.thinking is not UNSET:
        clamped = (
            None
            if value is None or not math.isfinite(value)
            else max(-MAX_ABSOLUTE_SEARCH_VALUE, min(value, MAX_ABSOLUTE_SEARCH_VALUE))
        )
        assert message.thinking.value == clamped


def test_a_move_is_sent_without_analysis_that_cannot_be_encoded() -> None:
    bad = Thinking(value="high")  # type: ignore[arg-type]
    message, warnings = make_move_message(TICTACTOE, 3, TICTACTOE.game.start(), 4, bad)
    assert message.thinking is UNSET
    assert len(warnings) == 1
    assert "self.thinking is not sent at ply 3" in warnings[0]
