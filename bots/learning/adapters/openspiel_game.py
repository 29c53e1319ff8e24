"""OpenSpiel games made from environments (`bots.learning.environment`), each registered under a name of its own."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyspiel

from arena.bots.learning.environment import Environment
from arena.games.riskless import Riskless

_REGISTERED_GAMES_BY_SHORT_NAME: dict[str, tuple[Environment, Any]] = {}
"""Environment and OpenSpiel class of each game registered by this process, by the game's short name."""


def register_game(env: Environment) -> Any:
    """Return the OpenSpiel game of an environment. The first call for the game's name registers it with OpenSpiel.

    Raises ValueError if the name is already registered for a game on another map or with other rules.
    """
    name = make_game_short_name(env)
    entry = _REGISTERED_GAMES_BY_SHORT_NAME.get(name)
    if entry is not None:
        if entry[0].game.setup() != env.game.setup():
            raise ValueError(
                f"this process has already registered the OpenSpiel game {name} with another setup; use another process for this setup"
            )
        return entry[1]()
    game = _make_game_class(env, name)
    pyspiel.register_game(game.game_type, game)
    _REGISTERED_GAMES_BY_SHORT_NAME[name] = env, game
    return game()


def make_game_short_name(env: Environment) -> str:
    """Return the name of the game for `pyspiel.load_game`, such as `arena_riskless_italy`."""
    map_name = env.game.setup().get("map")
    name = env.game.name if map_name is None else f"{env.game.name}_{map_name}"
    return "arena_" + re.sub(r"[^a-z0-9]+", "_", name.lower())


class OpenSpielGame(pyspiel.Game):  # type: ignore[misc]
    """An OpenSpiel game. OpenSpiel creates instances from the class, so each environment has its own subclass."""

    env: Environment
    game_type: Any
    game_info: Any

    def __init__(self, params: Any = None) -> None:
        super().__init__(self.game_type, self.game_info, params or {})

    def new_initial_state(self, state: Any = None) -> OpenSpielState:
        if state is not None:
            raise ValueError(
                f"{self.game_type.short_name} can begin only at its start position: call new_initial_state without a state"
            )
        return OpenSpielState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> OpenSpielObserver:  # noqa: ARG002
        return OpenSpielObserver(self.env)


class OpenSpielState(pyspiel.State):  # type: ignore[misc]
    """State of a match, which OpenSpiel changes in place with each move."""

    def __init__(self, game: OpenSpielGame) -> None:
        super().__init__(game)
        self.env = game.env
        self.position = game.env.game.start()

    def current_player(self) -> Any:
        if self.is_terminal():
            return pyspiel.PlayerId.TERMINAL
        return 0 if self.env.player(self.position) > 0 else 1

    def _legal_actions(self, _player: int) -> list[int]:
        return sorted(map(self.env.action, self.env.legal_moves(self.position)))

    def _apply_action(self, action: int) -> None:
        self.position = self.env.play(self.position, self.env.move(action))

    def _action_to_string(self, _player: int, action: int) -> str:
        return self.env.game.move_to_text(self.env.move(action))

    def is_terminal(self) -> bool:
        return self.env.outcome(self.position) is not None

    def returns(self) -> list[float]:
        reward = float(self.env.reward(self.position))
        return [reward, -reward]

    def __str__(self) -> str:
        return self.env.game.position_to_text(self.position)


class OpenSpielObserver:
    """Observation of a position by one player, as numbers: the player's own pieces are positive, the opponent's negative."""

    def __init__(self, env: Environment) -> None:
        self._env = env
        self.tensor = np.zeros(len(env.observation(env.game.start())), np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state: OpenSpielState, player: int) -> None:
        """Write the position in `state`, as `player` sees it, to the attribute `tensor`."""
        is_to_move = (self._env.player(state.position) > 0) == (player == 0)
        observation = np.array(self._env.observation(state.position), np.float32)
        self.tensor[:] = observation if is_to_move else -observation

    def string_from(self, state: OpenSpielState, _player: int) -> str:
        return str(state)


def _make_game_class(env: Environment, short_name: str) -> Any:
    game_type = pyspiel.GameType(
        short_name=short_name,
        long_name=short_name.replace("_", " "),
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.DETERMINISTIC,
        information=pyspiel.GameType.Information.PERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=2,
        min_num_players=2,
        provides_information_state_string=False,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={},
    )
    game_info = pyspiel.GameInfo(
        num_distinct_actions=env.actions,
        max_chance_outcomes=0,
        num_players=2,
        min_utility=-1.0,
        max_utility=1.0,
        utility_sum=0.0,
        max_game_length=env.game.map.ply_limit if isinstance(env.game, Riskless) else env.actions,
    )
    return type(short_name, (OpenSpielGame,), {"env": env, "game_type": game_type, "game_info": game_info})
