"""Bots that do not search: `greedy`, which looks one ply ahead, and `random`, the weakest opponent."""

from __future__ import annotations

from random import Random
from typing import Any

from arena.bots.api.bot import Bot, Clock, Resign, Thinking
from arena.bots.api.engine_spec import BadSpec
from arena.bots.evaluators.catalogue import evaluator_for, require_evaluator_support
from arena.bots.search.problem import Problem


class GreedyBot(Bot):
    """Bot that looks one ply ahead with an evaluator. A winning move beats any estimate.

    Ties go to the first of the best moves in the game's move order if the seed is 0, otherwise to a random one of them.
    """

    def __init__(self, evaluator: str = "plain", seed: int = 0) -> None:
        self._evaluator = evaluator
        self._random = Random(seed) if seed else None

    def prepare(self) -> None:
        try:
            require_evaluator_support(self.game, self._evaluator)
            evaluator = evaluator_for(self.game, self._evaluator)
        except BadSpec as error:
            raise Resign(f"greedy: {error}") from None
        self._problem: Problem[Any, Any] = Problem(self.game, evaluator)

    def choose(self, position: Any, clock: Clock) -> Any:  # noqa: ARG002 - one ply takes almost no time
        moves = self.game.moves(position)
        values = [self._problem.expand(self.game.successor(position, move), 0, 1).value for move in moves]
        best_value = max(values, key=lambda value: self.seat.sign * value)
        best_moves = [move for move, value in zip(moves, values, strict=True) if value == best_value]
        move = self._random.choice(best_moves) if self._random else best_moves[0]
        self.thinking = Thinking(depth=1, value=best_value, nodes=len(moves), line=[move])
        return move


class RandomBot(Bot):
    """Bot that plays each legal move with the same probability.

    A seed other than 0 gives the same sequence of random numbers in every match; 0 gives a new sequence in each match.
    """

    def __init__(self, seed: int = 0) -> None:
        self._random = Random(seed or None)

    def choose(self, position: Any, clock: Clock) -> Any:  # noqa: ARG002 - it does not think
        return self._random.choice(self.game.moves(position))
