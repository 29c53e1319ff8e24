"""Hill climbing moves weights to values that win, keeps weights of 0, and gives equal results for equal seeds."""

from arena.bots.evaluators.riskless import FEATURE_NAMES
from arena.games.riskless import Riskless
from arena.lab.tuning.climb import climb_weights
from arena.maps.loader import load_map

M1 = Riskless(load_map("m1"))
START = dict.fromkeys(FEATURE_NAMES, 0) | {
    "armies": 100,
    "territories": 50,
    "borders": 20,
    "waste": -50,
    "goal": 10,
}


def test_weights_of_zero_stay_zero_and_equal_seeds_give_equal_climbs() -> None:
    calls: list[None] = []
    one, same, other = (
        climb_weights(
            [M1], START, round_count=10, nodes_per_move=60, seed=seed, progress=lambda: calls.append(None)
        )
        for seed in (1, 1, 2)
    )
    assert one == same
    assert one.weights != other.weights
    assert [name for name in FEATURE_NAMES if not one.weights[name]] == [
        name for name in FEATURE_NAMES if not START[name]
    ]
    assert list(one.weights) == list(FEATURE_NAMES)
    assert (one.round_count, one.pair_count, len(one.stages)) == (10, 20, 10)
    assert len(calls) == 30


def test_weights_move_to_values_that_win() -> None:
    wrong = dict.fromkeys(FEATURE_NAMES, 0) | {"armies": 100, "territories": -50}
    found = climb_weights([M1], wrong, round_count=60, nodes_per_move=60, seed=1, progress=lambda: None)
    # an evaluator that avoids territories loses
    assert found.weights["territories"] / found.weights["armies"] > -0.4
