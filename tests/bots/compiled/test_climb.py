"""Weights that move to where they win: what moves, what stays, and that it is the same for the same seed."""

from bots.compiled.climb import STEPS, climb
from bots.evaluators.riskless import NAMES
from games.riskless import Riskless
from maps.loader import load_map

M1 = Riskless(load_map("m1"))
START = {"armies": 100, "territories": 50, "borders": 20, "safe": 0, "threats": 5, "waste": -50, "goal": 10}


def test_the_unit_and_what_is_0_stay_and_the_same_seed_climbs_the_same_way() -> None:
    asked: list[None] = []
    one, same, other = (
        climb([M1], START, rounds=10, nodes=60, seed=seed, progress=lambda: asked.append(None))
        for seed in (1, 1, 2)
    )
    assert one == same
    assert one.weights != other.weights
    assert (one.weights["armies"], one.weights["safe"]) == (100, 0)
    assert list(one.weights) == list(NAMES)
    assert (one.rounds, one.pairs, len(one.stages)) == (10, 20, 10)
    assert len(asked) == 30


def test_weights_go_where_they_win() -> None:
    wrong = dict.fromkeys(NAMES, 0) | {"armies": 100, "territories": -200}
    found = climb([M1], wrong, rounds=60, nodes=60, seed=1, progress=lambda: None)
    # who shuns territories loses
    assert found.weights["territories"] > wrong["territories"] + STEPS["territories"] / 2
