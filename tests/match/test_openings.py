"""Random openings: legal, not ending the match, and the same on every machine."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from arena.maps.game_on_map import make_game_on_map
from arena.match.openings import find_position_after, make_random_opening

GAMES = {name: make_game_on_map(name) for name in ("tictactoe", "riskless", "hexapawn")}


@settings(deadline=None)
@given(st.sampled_from(sorted(GAMES)), st.integers(0, 12), st.text(max_size=5))
def test_an_opening_is_legal_and_ends_nothing(name: str, plies: int, salt: str) -> None:
    game = GAMES[name]
    opening = make_random_opening(game, plies, salt)
    assert len(opening) <= plies
    last = find_position_after(game, opening)
    assert game.outcome(last) is None
    assert game.ply(last) == len(opening)
    assert opening == make_random_opening(game, plies, salt)
    if len(opening) < plies:
        assert all(game.outcome(game.successor(last, move)) for move in game.moves(last))
