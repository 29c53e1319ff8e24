"""PettingZoo environment of a match, in which the agents `maxie` and `minnie` take turns."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv

from arena.bots.learning.environment import Environment
from arena.games.core import Player

AGENT_NAMES = tuple(str(player) for player in Player)
"""Names of the two players, which PettingZoo calls agents; `maxie` is first."""


class MatchEnv(AECEnv):  # type: ignore[misc]
    """PettingZoo environment of one match. An agent's observation is a dictionary with `observation` and `action_mask`.

    In `observation` the agent's own pieces are positive numbers, and the opponent's are negative. The mask of an agent is
    all 0 while the other agent is to move.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "arena",
        "render_modes": ["ansi"],
        "is_parallelizable": False,
    }

    def __init__(self, env: Environment) -> None:
        super().__init__()
        self.env = env
        self.render_mode = "ansi"
        self.possible_agents = list(AGENT_NAMES)
        cell_count = len(env.observation(env.game.start()))
        observation_box = spaces.Box(-127, 127, (cell_count,), np.int8)
        action_mask_box = spaces.Box(0, 1, (env.actions,), np.int8)
        self.observation_spaces = {
            agent: spaces.Dict({"observation": observation_box, "action_mask": action_mask_box})
            for agent in AGENT_NAMES
        }
        self.action_spaces = {agent: spaces.Discrete(env.actions) for agent in AGENT_NAMES}

    def observation_space(self, agent: str) -> Any:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:  # noqa: ARG002
        self.position = self.env.reset(seed)
        self.agents = list(AGENT_NAMES)
        self.rewards: dict[str, float] = dict.fromkeys(AGENT_NAMES, 0)
        self._cumulative_rewards: dict[str, float] = dict.fromkeys(AGENT_NAMES, 0)
        self.terminations = dict.fromkeys(AGENT_NAMES, False)
        self.truncations = dict.fromkeys(AGENT_NAMES, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in AGENT_NAMES}
        self.agent_selection = str(self.env.game.player(self.position))

    def observe(self, agent: str) -> dict[str, Any]:
        env, position = self.env, self.position
        is_to_move = agent == str(env.game.player(position))
        observation = np.array(env.observation(position), np.int8) * (1 if is_to_move else -1)
        can_move = is_to_move and env.outcome(position) is None
        mask = np.array(env.legal(position), np.int8) if can_move else np.zeros(env.actions, np.int8)
        return {"observation": observation.astype(np.int8), "action_mask": mask}

    def step(self, action: Any) -> None:
        """Play the move with the index `action` for the selected agent. Raises IllegalMove for an illegal move.

        If the match is over, remove the selected agent from `agents` instead. PettingZoo requires that `action` is then None.
        """
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0
        self._clear_rewards()
        self.position = self.env.play(self.position, self.env.move(int(action)))
        if self.env.outcome(self.position) is not None:
            reward = self.env.reward(self.position)
            self.rewards = dict(zip(AGENT_NAMES, (float(reward), float(-reward)), strict=True))
            self.terminations = dict.fromkeys(AGENT_NAMES, True)
        self.agent_selection = str(self.env.game.player(self.position))
        self._accumulate_rewards()

    def render(self) -> str:
        """Return a drawing of the position in lines of text."""
        return self.env.game.picture(self.position)

    def close(self) -> None:
        """Do nothing, because there is no window or file to close. PettingZoo requires the method."""
