from __future__ import annotations

from random import Random
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from arena.bots.api.engine_spec import BadSpec
from arena.bots.compiled.batch import Batch
from arena.bots.learning.environment import Environment, batch, make
from arena.bots.learning.matches import play_match
from arena.games.core import IllegalMove
from arena.games.hexapawn import Hexapawn
from tests.games.own import EXAMPLES

ENVIRONMENTS = {
    "tictactoe": make("tictactoe"),
    "m2": make("riskless", map="m2"),
    "italy": make("riskless", map="italy"),
}


def walk(env: Environment, seed: int) -> list[Any]:
    """Return the positions of a random match."""
    dice, positions = Random(seed), [env.reset(seed)]
    while env.outcome(positions[-1]) is None:
        positions.append(env.play(positions[-1], dice.choice(env.legal_moves(positions[-1]))))
    return positions


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_every_move_has_a_number_and_each_number_a_move(name: str) -> None:
    env = ENVIRONMENTS[name]
    assert [env.action(env.move(action)) for action in range(env.actions)] == list(range(env.actions))
    *playing, last = walk(env, 1)
    for position in playing:
        legal = [env.move(action) for action, fine in enumerate(env.legal(position)) if fine]
        assert sorted(legal) == sorted(env.legal_moves(position))
    outcome = env.outcome(last)
    assert outcome is not None
    assert env.reward(last) == (0 if outcome.winner is None else outcome.winner.sign)
    assert not any(env.legal(last))
    with pytest.raises(IllegalMove):
        env.play(playing[0], env.move(env.legal(playing[0]).index(False)) if name != "tictactoe" else 9)


@pytest.mark.parametrize("action", [-1, 9])
def test_a_number_that_no_move_has_is_refused(action: int) -> None:
    with pytest.raises(IndexError, match=f"no action {action}: the actions are 0 to 8"):
        ENVIRONMENTS["tictactoe"].move(action)


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_a_batch_has_the_same_numbers_and_sees_the_same(name: str) -> None:
    env = ENVIRONMENTS[name]
    many: Batch = env.batch(8, seed=4)
    assert many.actions == env.actions
    assert [many.move(action) for action in range(many.actions)] == [env.move(n) for n in range(env.actions)]
    positions = [env.game.start()] * many.size
    for _ in range(30):
        assert many.observations.tolist() == [env.observation(position) for position in positions]
        assert many.legal.tolist() == [env.legal(position) for position in positions]
        actions = many.random.copy()
        _, done = many.step(actions)
        positions = [
            env.game.start() if over else env.play(position, env.move(int(action)))
            for position, action, over in zip(positions, actions, done, strict=True)
        ]


def test_the_seed_makes_the_opening() -> None:
    env = make("riskless", map="italy", opening=6)
    assert env.reset(1) == env.reset(1)
    assert len({env.reset(seed) for seed in range(20)}) > 15
    assert env.game.ply(env.reset(1)) == 6
    with pytest.raises(ValueError, match="none of 100 random matches of tictactoe lasted more than 40 moves"):
        make("tictactoe", opening=40).reset(1)


def test_a_game_of_ones_own_has_no_numbers() -> None:
    env = make(str(EXAMPLES / "dots.py"))
    assert env.actions == 0
    assert env.outcome(walk(env, 1)[-1]) is not None
    with pytest.raises(ValueError, match="dots has no observations"):
        env.observation(env.reset())
    with pytest.raises(ValueError, match="needs a game with a compiled function `observe`"):
        Environment(Hexapawn(3, 3)).batch(4)


def test_batch_makes_it_in_one_call() -> None:
    many = batch("riskless", map="italy", size=16, opening=2, seed=1)
    assert many.observations.dtype == np.int8
    assert many.legal.dtype == np.bool_
    assert (many.observations.shape[0], set(many.plies.tolist())) == (16, {2})


@pytest.mark.parametrize(
    "env", [*ENVIRONMENTS.values(), make(str(EXAMPLES / "dots.py"))], ids=lambda env: env.game.name
)
def test_a_position_is_a_picture_for_notebooks(env: Environment) -> None:
    positions = walk(env, 2)
    pictures = [env.show(position) for position in (positions[0], positions[-1])]
    numbers = [ET.fromstring(picture._repr_svg_()) for picture in pictures]
    assert all(each.tag.endswith("svg") for each in numbers)
    assert pictures[0]._repr_svg_() != pictures[1]._repr_svg_()
    assert str(pictures[0]) == env.game.picture(positions[0])


@pytest.mark.parametrize(
    "env", [ENVIRONMENTS["tictactoe"], ENVIRONMENTS["m2"]], ids=lambda env: env.game.name
)
def test_a_match_is_a_chart_of_its_estimates(env: Environment) -> None:
    record = play_match("greedy", "random", env, seed=1, opening=2)
    positions = env.positions(record)
    assert len(positions) == len(record.moves) + 1
    picture = env.show_match(record)
    assert len(str(picture).splitlines()) == len(positions)
    root = ET.fromstring(picture._repr_svg_())
    (curve,) = root.iter("{http://www.w3.org/2000/svg}polyline")
    heights = [float(point.split(",")[1]) for point in curve.attrib["points"].split()]
    estimates = [env.game.estimate(position) for position in positions]
    assert [heights[n] < heights[0] for n in range(len(heights))] == [
        estimate > estimates[0] for estimate in estimates
    ]


def test_a_search_is_the_tree_that_it_visited() -> None:
    env = ENVIRONMENTS["tictactoe"]
    position = walk(env, 1)[4]
    whole = env.show_search(position, "minimax", 2)
    replies = [len(env.legal_moves(env.play(position, move))) for move in env.legal_moves(position)]
    picture = ET.fromstring(whole._repr_svg_())
    assert f"minimax, depth 2: {1 + len(replies) + sum(replies)} nodes" in "".join(picture.itertext())
    assert len(str(env.show_search(position, "alphabeta", 2))) < len(str(whole))
    with pytest.raises(BadSpec, match="no algorithm is called 'alfabeta'"):
        env.show_search(position, "alfabeta")


def test_a_networks_inputs_are_the_same_for_a_batch_and_for_positions() -> None:
    env = make("riskless", map="m2", opening=3)
    many = env.batch(8, seed=1)
    inputs = env.network_inputs(many.observations)
    assert inputs.shape == (8, 700)
    np.testing.assert_allclose(inputs[:, :25].sum(1), 1, rtol=1e-6)
    assert np.array_equal(env.network_inputs([list(map(int, many.observations[5]))])[0], inputs[5])
    with pytest.raises(ValueError, match="network_inputs is only for riskless, and this game is tictactoe"):
        make("tictactoe").network_inputs([[0] * 9])
