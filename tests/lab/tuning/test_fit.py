"""Learning weights: the fit finds what made the samples, and the command writes what can be read."""

import numpy as np
import pytest

from arena.bots.evaluators.riskless import FEATURE_NAMES
from arena.games.riskless import Riskless
from arena.lab.tuning.fit import TrainingSamples, fit_weights, play_training_matches
from arena.maps.game_on_map import make_game_on_map

TRUE = dict.fromkeys(FEATURE_NAMES, 0) | {
    "armies": 100,
    "territories": 300,
    "borders": -50,
    "safe": 80,
    "waste": -200,
    "goal": 20,
}
FLAT = dict.fromkeys(FEATURE_NAMES, 0) | {"armies": 100}
NOTHING = dict.fromkeys(FEATURE_NAMES, 0)
SIZES = np.array([10, 4, 5, 8, 3, 2, 6, 2, 1, 1])


def samples(slopes: tuple[float, ...], matches: int, seed: int = 1) -> TrainingSamples:
    """Return matches whose ends follow the true weights, on games that each have a slope of their own."""
    rng = np.random.default_rng(seed)
    games = np.arange(matches) % len(slopes)
    rows = rng.normal(size=(matches, len(FEATURE_NAMES))) * SIZES
    values = rows @ np.array([TRUE[name] for name in FEATURE_NAMES])
    chances = 1 / (1 + np.exp(-values * np.array(slopes)[games]))
    ends = (rng.random(matches) < chances).astype(float)
    return TrainingSamples(rows, ends, np.arange(matches), games)


@pytest.mark.parametrize("begun", [FLAT, NOTHING], ids=["from armies alone", "from nothing"])
def test_the_fit_finds_the_weights_whatever_the_games_slopes(begun: dict[str, int]) -> None:
    found = fit_weights(samples((0.002, 0.0005), 20_000), FEATURE_NAMES, begun)
    true = np.array([TRUE[name] for name in FEATURE_NAMES], float)
    learned = np.array([found.weights[name] for name in FEATURE_NAMES], float)
    likeness = (
        true * SIZES @ (learned * SIZES) / np.linalg.norm(true * SIZES) / np.linalg.norm(learned * SIZES)
    )
    assert likeness > 0.98
    assert found.held_out_loss_after < found.held_out_loss_before
    assert found.loss_after < found.loss_before < 1.01


def test_weights_without_data_stay_unchanged() -> None:
    seen = samples((0.001,), 3000)
    seen.features[:, [FEATURE_NAMES.index("goal"), FEATURE_NAMES.index("attacks")]] = 0
    found = fit_weights(seen, FEATURE_NAMES, FLAT | {"goal": 50}).weights
    assert found["goal"] > 0
    assert found["attacks"] == 0


def test_self_play_is_the_same_for_the_same_seed() -> None:
    board = make_game_on_map("riskless", "path4")
    assert isinstance(board, Riskless)
    one, same, other = (
        play_training_matches(
            [board], FLAT, match_count=6, nodes_per_move=60, seed=seed, progress=lambda: None
        )
        for seed in (1, 1, 2)
    )
    assert np.array_equal(one.features, same.features)
    assert np.array_equal(one.results, same.results)
    assert one.features.shape != other.features.shape or not np.array_equal(one.features, other.features)
    assert set(one.match_numbers) == set(range(6))
    assert ((one.results >= 0) & (one.results <= 1)).all()
