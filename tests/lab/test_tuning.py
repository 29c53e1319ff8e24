"""Learning weights by a fit: it finds the weights from which the samples were made."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pytest

from arena.bots.evaluators.riskless import FEATURE_NAMES
from arena.games.riskless import Riskless
from arena.lab.tuning import SEARCH_WEIGHT_IN_TARGET, TrainingSamples, fit_weights, play_training_matches
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


def make_samples(
    slopes: tuple[float, ...], matches: int, seed: int = 1, *, tempo: float = 0
) -> TrainingSamples:
    """Return samples whose targets follow from the weights in TRUE.

    A target is the chance of winning, mixed with a random result.

    slopes   slope of the logistic curve of each game
    matches  number of matches, with one sample each
    tempo    value of having the move on the first game, in log-odds; minus this value on the other games
    """
    rng = np.random.default_rng(seed)
    games = np.arange(matches) % len(slopes)
    movers = rng.choice((-1.0, 1.0), matches)
    # On average, the player to move is behind.
    rows = (rng.normal(size=(matches, len(FEATURE_NAMES))) - 0.5 * movers[:, None]) * SIZES
    values = rows @ np.array([TRUE[name] for name in FEATURE_NAMES])
    chances = 1 / (1 + np.exp(-values * np.array(slopes)[games] - np.where(games, -tempo, tempo) * movers))
    ends = rng.random(matches) < chances
    targets = SEARCH_WEIGHT_IN_TARGET * chances + (1 - SEARCH_WEIGHT_IN_TARGET) * ends
    return TrainingSamples(rows, targets, movers, np.arange(matches), games)


def to_direction(weights: Mapping[str, int]) -> npt.NDArray[np.float64]:
    """Return a vector of length 1 of the weights, each multiplied by the usual size of its feature."""
    vector = np.array([weights[name] for name in FEATURE_NAMES]) * SIZES
    return np.asarray(vector / np.linalg.norm(vector), float)


@pytest.mark.parametrize("begun", [FLAT, NOTHING], ids=["from armies alone", "from nothing"])
def test_the_fit_finds_the_weights_for_any_slopes_and_tempos_of_the_games(begun: dict[str, int]) -> None:
    fits = [fit_weights(make_samples((0.002, 0.0005), 2000, seed, tempo=1), begun) for seed in range(8)]
    directions = np.array([to_direction(found.weights) for found in fits])
    errors = directions.std(axis=0, ddof=1) / np.sqrt(len(fits))
    assert (errors < 0.01).all()
    assert (np.abs(directions.mean(axis=0) - to_direction(TRUE)) < 4 * errors).all()
    for found in fits:
        assert found.held_out_loss_after < found.held_out_loss_before
        assert found.loss_after < found.loss_before < 1.01


def test_the_fit_turns_weights_round_that_prefer_the_worse_position() -> None:
    """The slope of a game and all weights could change their signs together, and predict the same chances."""
    inverted = {name: -weight for name, weight in TRUE.items()}
    found = fit_weights(make_samples((0.002, 0.0005), 3000), inverted).weights
    assert to_direction(found) @ to_direction(TRUE) > 0.9


def test_a_fit_to_searches_with_known_weights_finds_their_estimates() -> None:
    known = FLAT | {"territories": 200, "borders": -30}
    board = make_game_on_map("riskless", "m2")
    seen = play_training_matches(
        [board], known, match_count=20, nodes_per_move=60, seed=1, on_progress=lambda: None
    )
    found = fit_weights(seen, NOTHING).weights
    estimates, found_estimates = (
        seen.features @ np.array([weights[name] for name in FEATURE_NAMES]) for weights in (known, found)
    )
    assert np.corrcoef(estimates, found_estimates)[0, 1] > 0.9


def test_weights_without_data_stay_unchanged() -> None:
    seen = make_samples((0.001,), 3000)
    seen.features[:, [FEATURE_NAMES.index("goal"), FEATURE_NAMES.index("attacks")]] = 0
    found = fit_weights(seen, FLAT | {"goal": 50}).weights
    assert found["goal"] > 0
    assert found["attacks"] == 0


def test_the_weights_of_the_other_features_are_scaled_without_the_armies() -> None:
    samples = make_samples((0.002,), 3000)
    found = fit_weights(samples, NOTHING, ["armies"]).weights
    assert found["armies"] == 0
    estimates = samples.features @ np.array([found[name] for name in FEATURE_NAMES])
    assert np.std(estimates) == pytest.approx(np.std(100 * samples.features[:, 0]), rel=0.01)


def test_self_play_is_the_same_for_the_same_seed() -> None:
    board = make_game_on_map("riskless", "path4")
    assert isinstance(board, Riskless)
    one, same, other = (
        play_training_matches(
            [board], FLAT, match_count=6, nodes_per_move=60, seed=seed, on_progress=lambda: None
        )
        for seed in (1, 1, 2)
    )
    assert np.array_equal(one.features, same.features)
    assert np.array_equal(one.targets, same.targets)
    assert one.features.shape != other.features.shape or not np.array_equal(one.features, other.features)
    assert set(one.match_numbers) == set(range(6))
    assert ((one.targets >= 0) & (one.targets <= 1)).all()
