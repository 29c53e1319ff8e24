"""Adapters that offer an environment to the libraries PettingZoo and OpenSpiel, which are imported on first use.

zoo = arena.adapters.pettingzoo(arena.make("riskless", map="italy"))
spiel = arena.adapters.openspiel(arena.make("tictactoe"))
"""

from __future__ import annotations

from typing import Any

from arena.bots.learning.environment import Environment


def pettingzoo(env: Environment) -> Any:
    """Return a PettingZoo `AECEnv` with the agents `maxie` and `minnie`.

    Raises ImportError without the package `pettingzoo`, and ValueError for a game without actions (move indices).
    """
    _require_numbered_actions(env)
    from arena.bots.learning.adapters.pettingzoo_env import MatchEnv  # noqa: PLC0415

    return MatchEnv(env)


def openspiel(env: Environment) -> Any:
    """Return the OpenSpiel game, registered for `pyspiel.load_game` under a name such as `arena_riskless_italy`.

    Raises ImportError without the package `open_spiel`, and ValueError for a game without actions (move indices).
    """
    _require_numbered_actions(env)
    from arena.bots.learning.adapters.openspiel_game import register_game  # noqa: PLC0415

    return register_game(env)


def _require_numbered_actions(env: Environment) -> None:
    if not env.actions:
        raise ValueError(
            f"{env.game.name} has no move indices, which adapters need as actions: only riskless and tictactoe have them"
        )
