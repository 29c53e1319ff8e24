from __future__ import annotations

import warnings
from random import Random
from typing import Any

import pytest

from arena.bots.learning import adapters
from arena.bots.learning.environment import Environment, make
from testkit.tools import skip_without
from tests.games.own import EXAMPLES

NAMES = ["tictactoe", "path4", "italy"]


def env_of(name: str) -> Environment:
    return make("tictactoe") if name == "tictactoe" else make("riskless", map=name)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_tests_of_pettingzoo_pass(name: str) -> None:
    skip_without("pettingzoo")
    from pettingzoo.test import api_test, seed_test  # noqa: PLC0415

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        api_test(adapters.pettingzoo(env_of(name)), num_cycles=200)
        seed_test(lambda: adapters.pettingzoo(env_of(name)), num_cycles=20)


@pytest.mark.parametrize("name", NAMES)
def test_a_match_in_pettingzoo_follows_the_rules(name: str) -> None:
    skip_without("pettingzoo")
    env, dice = env_of(name), Random(1)
    zoo: Any = adapters.pettingzoo(env)
    zoo.reset(seed=1)
    position = env.reset(1)
    while env.outcome(position) is None:
        seen = zoo.observe(zoo.agent_selection)
        assert zoo.agent_selection == str(env.game.player(position))
        assert seen["observation"].tolist() == env.observation(position)
        assert seen["action_mask"].tolist() == env.legal(position)
        other = zoo.observe("minnie" if zoo.agent_selection == "maxie" else "maxie")
        assert (other["observation"] == -seen["observation"]).all()
        assert not other["action_mask"].any()
        move = dice.choice(env.legal_moves(position))
        zoo.step(env.action(move))
        position = env.play(position, move)
    assert all(zoo.terminations.values())
    assert zoo.rewards == {"maxie": env.reward(position), "minnie": -env.reward(position)}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_tests_of_openspiel_pass(name: str) -> None:
    skip_without("openspiel")
    import pyspiel  # noqa: PLC0415

    game = adapters.openspiel(env_of(name))
    pyspiel.random_sim_test(game, num_sims=3, serialize=True, verbose=False)
    again = adapters.openspiel(env_of(name))
    assert again.get_type().short_name == game.get_type().short_name
    assert pyspiel.load_game(game.get_type().short_name).num_distinct_actions() == env_of(name).actions


def test_a_match_in_openspiel_follows_the_rules() -> None:
    skip_without("openspiel")
    env, dice = env_of("path4"), Random(2)
    state: Any = adapters.openspiel(env).new_initial_state()
    position = env.game.start()
    while env.outcome(position) is None:
        assert state.current_player() == (0 if env.player(position) > 0 else 1)
        assert state.legal_actions() == sorted(map(env.action, env.legal_moves(position)))
        move = dice.choice(env.legal_moves(position))
        state.apply_action(env.action(move))
        position = env.play(position, move)
    assert state.is_terminal()
    assert state.returns() == [env.reward(position), -env.reward(position)]


@pytest.mark.parametrize(
    "adapter", [adapters.pettingzoo, adapters.openspiel], ids=["pettingzoo", "openspiel"]
)
def test_a_game_without_numbers_is_refused(adapter: Any) -> None:
    with pytest.raises(ValueError, match="dots has no move indices"):
        adapter(make(str(EXAMPLES / "dots.py")))
