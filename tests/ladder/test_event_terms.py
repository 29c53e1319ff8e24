import pytest
from msgspec.structs import replace

from arena.ladder.event_terms import compute_max_match_seconds
from arena.protocol.timecontrol import TimeOdds
from tests.server.matches import game_of, spec


def test_how_long_a_match_can_last() -> None:
    # 40 plies of 100 + 50 ms, and 5 s to get ready
    assert compute_max_match_seconds(
        spec("a", "b", "0.1/move", game="riskless", margin=50, ready=5000)
    ) == pytest.approx(11)
    # twice 10 s, 40 plies of 1 s and 50 ms
    assert compute_max_match_seconds(
        spec("a", "b", "10+1", game="riskless", margin=50, ready=5000)
    ) == pytest.approx(67)
    odds = replace(
        spec("a", "b", "10+1", game="riskless", margin=50, ready=5000), time_odds=TimeOdds(minnie="0.1/move")
    )
    # 10 s, 20 plies of 1 s, 20 of 0.1 s, and 40 of 50 ms
    assert compute_max_match_seconds(odds) == pytest.approx(39)
    assert game_of("tictactoe").setup().get("ply_limit") is None
    assert compute_max_match_seconds(spec("a", "b", "0.1/move", margin=0, ready=5000)) == pytest.approx(105)
