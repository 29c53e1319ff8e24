from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from arena.bots.compiled.batch import Batch
from arena.games.core import MAXIE, Game, Player
from arena.games.hexapawn import Hexapawn
from arena.games.riskless import Riskless
from arena.maps.game_on_map import make_game_on_map

SETUPS = {
    "tictactoe": make_game_on_map("tictactoe"),
    "path4": make_game_on_map("riskless", "path4"),
    "m1": make_game_on_map("riskless", "m1"),
    "italy": make_game_on_map("riskless", "italy"),
}


def observe(game: Game[Any, Any], position: Any) -> list[int]:
    """Return the observation of the player to move, computed in Python."""
    player = game.player(position)
    if isinstance(game, Riskless):
        return [player.sign * armies for armies in position.armies]
    return [
        0 if mark in (".", " ", "") else 1 if mark == ("X" if player is MAXIE else "O") else -1
        for mark in position.cells
    ]


@pytest.mark.parametrize("name", SETUPS)
def test_every_match_follows_the_rules(name: str) -> None:
    game: Any = SETUPS[name]
    batch = Batch(game, 16, seed=5)
    positions = [game.start()] * batch.size
    ended = 0
    for _ in range(300 if name == "italy" else 120):
        for row, position in enumerate(positions):
            assert batch.observations[row].tolist() == observe(game, position)
            legal = [batch.move(int(action)) for action in np.flatnonzero(batch.legal[row])]
            assert legal == list(game.moves(position))
            assert batch.players[row] == game.player(position).sign
            assert batch.plies[row] == game.ply(position)
        actions = batch.random.copy()
        rewards, done = batch.step(actions)
        for row, action in enumerate(actions):
            assert batch.action(batch.move(int(action))) == action
            positions[row] = game.play(positions[row], batch.move(int(action)))
            outcome = game.outcome(positions[row])
            assert done[row] == (outcome is not None)
            winner = None if outcome is None else outcome.winner
            assert rewards[row] == (0 if winner is None else winner.sign)
            if outcome is not None:
                ended += 1
                positions[row] = game.start()
    assert ended > 0 or name == "italy"


def test_openings_follow_from_the_seed_and_differ() -> None:
    game = SETUPS["italy"]
    one, again, other = (Batch(game, 32, opening=6, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(one.observations, again.observations)
    assert not np.array_equal(one.observations, other.observations)
    assert len(np.unique(one.observations, axis=0)) > 20
    assert set(one.plies) == {6}
    one.step(one.random)
    one.reset(2)
    assert np.array_equal(one.observations, other.observations)


@pytest.mark.parametrize("wrong", [-1, 9, 1000, 4])
def test_an_action_that_is_not_legal_is_refused_and_nothing_is_played(wrong: int) -> None:
    batch = Batch(SETUPS["tictactoe"], 3)
    batch.step([4, 4, 4])
    before = batch.observations.copy()
    with pytest.raises(ValueError, match=f"action {wrong} is not legal in match 1"):
        batch.step([0, wrong, 0])
    with pytest.raises(ValueError, match="must be 3 numbers"):
        batch.step([0, 1])
    assert np.array_equal(batch.observations, before)


def test_a_game_without_a_kernel_that_observes_is_refused() -> None:
    with pytest.raises(
        ValueError, match="needs a game with a compiled function `observe`, and hexapawn has none"
    ):
        Batch(Hexapawn(3, 3), 4)
    with pytest.raises(ValueError, match="size must be at least 1"):
        Batch(SETUPS["tictactoe"], 0)


def test_random_actions_are_uniform() -> None:
    batch = Batch(SETUPS["tictactoe"], 9_000, seed=3)
    counts = np.bincount(batch.random, minlength=9)
    assert abs(counts - 1_000).max() < 200
    assert Player.MAXIE.sign == batch.players[0]
