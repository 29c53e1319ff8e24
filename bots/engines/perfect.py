"""Use of solved maps in play: by the engine `perfect`, and by the option `truth` of the engines that search.

A map is solved if it has a tablebase, which contains the result of every position with best play.
"""

from __future__ import annotations

from typing import Any

from arena.bots.api.bot import Bot, Clock, Resign, Thinking
from arena.bots.api.engine_spec import BadSpec, ParsedSpec
from arena.bots.search.search_values import WIN_VALUE
from arena.games.core import Game
from arena.games.riskless import Move, RisklessPosition
from arena.solved.header import BadTable
from arena.solved.solution import Solution, explain_missing_solution, load_solution
from arena.solved.solved_value import SolvedResult, SolvedValue


class PerfectBot(Bot):
    """Bot that plays the best move by a solved map's tablebase: the fastest win, otherwise a draw, otherwise the slowest loss.

    Among drawing moves, the bot plays the one after which the most replies of the opponent lose. Among equal moves, it plays
    the first in move order.
    """

    def prepare(self) -> None:
        reason = find_perfect_incompatibility_reason(self.game)
        solution = None if reason else load_solution(self.game)
        if solution is None:
            raise Resign(reason)
        self._solution = solution

    def choose(self, position: Any, clock: Clock) -> Any:  # noqa: ARG002 - a table lookup takes almost no time
        truth, best_moves = self._solution.find_best_moves(position)
        move = best_moves[0]
        if truth.result is SolvedResult.DRAW and len(best_moves) > 1:
            move = max(
                best_moves, key=lambda candidate: count_losing_replies(self._solution, position, candidate)
            )
        self.thinking = Thinking(
            depth=truth.plies,
            value=self.seat.sign * to_search_value(truth),
            nodes=len(self.game.moves(position)),
            line=[move],
        )
        return move


def count_losing_replies(solution: Solution, position: RisklessPosition, move: Move) -> int:
    """Return the number of the opponent's replies to `move` after which the opponent loses, according to the tablebase."""
    position_after = solution.game.successor(position, move)
    return sum(truth.result is SolvedResult.LOSS for _, truth in solution.list_move_values(position_after))


def find_perfect_incompatibility_reason(game: Game[Any, Any]) -> str:
    """Return why the engine `perfect` cannot play a game, in one line; empty if it can."""
    reason = explain_missing_solution(game)
    return reason and f"perfect: {reason}"


def to_search_value(solved_value: SolvedValue) -> int:
    """Return the value that a search would give to a position with the solved value `solved_value`, for the player to move."""
    return 0 if solved_value.plies is None else solved_value.result.sign * (WIN_VALUE - solved_value.plies)


def load_requested_solution(spec: ParsedSpec, game: Game[Any, Any]) -> Solution | None:
    """Return the tablebase of `game` if the engine's option `truth` asks for it; None if not, or if there is no tablebase.

    Raises BadSpec if the file of the tablebase is damaged.
    """
    if spec.option_values.get("truth", "no") == "no":
        return None
    try:
        return load_solution(game)
    except BadTable as error:
        raise BadSpec(f"{spec.name}: {error}") from None


def find_missing_tablebase_reason(spec: ParsedSpec, solution: Solution | None, game: Game[Any, Any]) -> str:
    """Return a line that tells the user that no tablebase exists for the game, although the option `truth` asks for it.

    The line is empty if there is a tablebase, or the option is off.

    solution  tablebase of the game; None if there is none
    """
    if spec.option_values.get("truth", "no") == "no" or solution is not None:
        return ""
    return (
        f"{spec.name} searches without truth=root: no table exists for {game.setup().get('map', game.name)}"
    )
