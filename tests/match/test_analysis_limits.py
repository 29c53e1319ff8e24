"""Limits on the stored analysis of bots, which keep views and records within the bounds of the protocol."""

from __future__ import annotations

from itertools import product
from typing import Any, cast

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.games.catalogue import BUILT_IN_GAMES
from arena.games.core import AnyGame, BadData, Player
from arena.games.tictactoe import TicTacToe
from arena.maps.game_on_map import make_game_on_map
from arena.match.analysis_limits import (
    MAX_ANALYSIS_BYTES_PER_MOVE,
    MAX_ANALYSIS_BYTES_PER_PLAYER,
    AnalysisTrimmer,
)
from arena.match.referee_events import MoveReceived
from arena.protocol.codec import encode_message
from arena.protocol.messages import MAX_SERVER_FRAME_BYTES, Played, View
from arena.protocol.record import MAX_RECORD_BYTES, RecordedMove
from arena.protocol.timecontrol import TimeControl
from arena.protocol.values import Clocks, Players, Thinking
from tests.server.matches import record

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 30) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=3), inside, max_size=2),
    max_leaves=6,
)
RISKLESS = make_game_on_map("riskless", "m2")


def is_move(game: AnyGame, data: object) -> bool:
    try:
        game.move_from_data(data)
    except BadData:
        return False
    return True


@pytest.mark.parametrize("name", BUILT_IN_GAMES)
@given(
    lines=st.lists(st.lists(PLAIN | st.integers(0, 8) | st.lists(st.integers(0, 15), max_size=3)), max_size=5)
)
@example(lines=[[0, False]])
@example(lines=[[5, [5]]])
def test_a_line_is_kept_up_to_its_first_invalid_move(name: str, lines: list[list[Any]]) -> None:
    game = make_game_on_map(name)
    limit, cut = AnalysisTrimmer(game), 0
    for line in lines:
        kept = limit.trim_thinking(Player.MAXIE, Thinking(line=line))
        assert kept is not None
        wanted = []
        for data in line:
            if not is_move(game, data):
                break
            wanted.append(game.move_to_data(game.move_from_data(data)))
        assert (kept.line or []) == wanted
        # 1.0 and True are equal to 1, but are not moves of the game.
        assert repr(kept.line or []) == repr(wanted)
        cut += len(line) - len(wanted)
    assert limit.removed_line_move_count == cut


def test_long_thinking_loses_its_line_first_and_each_player_has_a_limit_per_match() -> None:
    limit = AnalysisTrimmer(make_game_on_map("tictactoe"))
    long = Thinking(depth=3, value=1.5, nodes=10, line=[4] * 64)
    kept = 0
    for _ in range(MAX_ANALYSIS_BYTES_PER_PLAYER // 100):
        thinking = limit.trim_thinking(Player.MAXIE, long)
        if thinking is not None:
            assert (thinking.depth, thinking.value, thinking.nodes) == (3, 1.5, 10)
            kept += len(msgspec.json.encode(thinking))
    assert MAX_ANALYSIS_BYTES_PER_PLAYER / 2 < kept <= MAX_ANALYSIS_BYTES_PER_PLAYER
    assert limit.trim_thinking(Player.MAXIE, long) is None
    assert limit.trim_thinking(Player.MINNIE, long) == long, "each player has a separate limit"


class AnyMoveGame(TicTacToe):
    """Game that accepts any data as a move."""

    def move_from_data(self, data: object) -> Any:
        return data

    def move_to_data(self, move: Any) -> Any:
        return move


def test_a_line_of_a_move_is_bounded_in_bytes() -> None:
    limit = AnalysisTrimmer(cast("AnyGame", AnyMoveGame()))
    assert limit.trim_thinking(
        Player.MAXIE, Thinking(depth=1, line=["x" * MAX_ANALYSIS_BYTES_PER_MOVE])
    ) == Thinking(depth=1)
    assert limit.removed_line_move_count == 1


def test_a_move_without_thinking_stays_as_it_is() -> None:
    moved = MoveReceived(Player.MAXIE, 0, [1, 2])
    assert AnalysisTrimmer(RISKLESS).trim_move(Player.MAXIE, moved) is moved
    recorded = RecordedMove([1, 2], 1.5)
    assert AnalysisTrimmer(RISKLESS).trim_move(Player.MAXIE, recorded) is recorded


def test_analysis_is_trimmed_in_the_same_way_on_arrival_and_in_a_record() -> None:
    said, kept = Thinking(depth=1, line=[[0, 1], "no move"]), Thinking(depth=1, line=[[0, 1]])
    arrived = AnalysisTrimmer(RISKLESS).trim_move(Player.MAXIE, MoveReceived(Player.MAXIE, 0, [1, 2], said))
    assert arrived == MoveReceived(Player.MAXIE, 0, [1, 2], kept)
    limit = AnalysisTrimmer(RISKLESS)
    recorded = limit.trim_move(Player.MAXIE, RecordedMove([1, 2], 1.5, said))
    assert recorded == RecordedMove([1, 2], 1.5, kept)
    assert limit.removed_line_move_count == 1


@pytest.mark.slow
def test_the_largest_view_is_a_frame_and_the_largest_record_is_within_its_bound() -> None:
    """The match has 100,000 plies, on a map file of the largest size, and both players send as much analysis as is kept."""
    roads = [
        [w for w in range(1000) if w != v][:130] for v in range(1000)
    ]  # more would not fit into a map file
    setup = {
        "map": "x" * 40,
        "territories": [f"{'ß' * 36}{v:04d}" for v in range(1000)],
        "neighbours": roads,
        "territory_cap": 1000,
        "armies_to_win": 1_000_000,
        "ply_limit": 100_000,
        "start": [["minnie", 1000]] * 1000,
        "places": [[123456.78901234, 123456.78901234]] * 1000,
    }
    limit = AnalysisTrimmer(RISKLESS)
    said = Thinking(depth=100_000, value=-123456.789012345, nodes=2**62, line=[[15, 14]] * 64)
    thoughts = [limit.trim_thinking(player, said) for _, player in product(range(50_000), Player)]
    rows = [Played([999, 998], 12345.678, each) for each in thoughts]
    name = "ß" * 64
    view = View(
        "m" * 64, "e" * 128, "riskless", setup, Players(name, name), TimeControl(1), rows, Clocks(1, 1), None
    )
    assert len(encode_message(view)) <= MAX_SERVER_FRAME_BYTES
    moves = [RecordedMove([999, 998], 12345.678, each, 1234.567) for each in thoughts]
    line = msgspec.json.encode(msgspec.structs.replace(record("m" * 64), setup=setup, moves=moves))
    assert len(line) <= MAX_RECORD_BYTES
