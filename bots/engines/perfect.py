"""Solved maps in play: `perfect`, which plays the move that the table says is best, and what `truth` makes of a search."""

from __future__ import annotations

from typing import Any

from arena.bots.api.bot import Bot, Clock, Resign, Thinking
from arena.bots.api.options import LEAVES, BadSpec, Spec
from arena.bots.compiled.limits import MOST_TABLE, table_bytes
from arena.bots.search.values import WIN
from arena.games.core import Game
from arena.games.riskless import Armies, Move
from arena.solved.header import BadTable
from arena.solved.solution import Solution, solution_of
from arena.solved.truth import Truth, Value


class PerfectBot(Bot):
    """Wins in the fewest plies, loses in the most. Of moves that draw it plays the one after which most replies lose.

    Of equal moves it plays the leftmost.
    """

    def prepare(self) -> None:
        why = no_table(self.game)
        solution = None if why else solution_of(self.game)
        if solution is None:
            raise Resign(why)
        self._solution = solution

    def choose(self, position: Any, clock: Clock) -> Any:  # noqa: ARG002 - a look into the table takes no time to speak of
        truth, equals = self._solution.best(position)
        move = equals[0]
        if truth.value is Value.DRAW and len(equals) > 1:
            move = max(equals, key=lambda each: losing_replies(self._solution, position, each))
        self.thinking = Thinking(
            depth=truth.plies,
            value=self.seat.sign * worth(truth),
            nodes=len(self.game.moves(position)),
            line=[move],
        )
        return move


def losing_replies(solution: Solution, position: Armies, move: Move) -> int:
    """After how many of the opponent's replies to a move it is lost for the opponent."""
    after = solution.game.successor(position, move)
    return sum(truth.value is Value.LOSS for _, truth in solution.moves(after))


def no_table(game: Game[Any, Any]) -> str:
    """Why `perfect` cannot play a game, in one line; empty where it can."""
    try:
        if solution_of(game) is not None:
            return ""
    except BadTable as error:
        return f"perfect: {error}"
    name = game.setup().get("map")
    if name is None:
        return f"perfect: it plays riskless alone, and this is {game.name}"
    return (
        f"perfect: there is no table of {name}: `arena solve {name}` makes one, where the map is small enough"
    )


def worth(truth: Truth) -> int:
    """A value as the searches tell it, for the player to move."""
    return 0 if truth.plies is None else truth.value.sign * (WIN - truth.plies)


def solution_for(spec: Spec, game: Game[Any, Any]) -> Solution | None:
    """The solution that an engine looks into; None where it was not told to, or there is none. Raises BadSpec for a damaged file."""
    if spec.values.get("truth", "no") == "no":
        return None
    try:
        return solution_of(game)
    except BadTable as error:
        raise BadSpec(f"{spec.name}: {error}") from None


def without_truth(spec: Spec, solution: Solution | None, game: Game[Any, Any], most: int = MOST_TABLE) -> str:
    """Why an engine that was told to look into a table searches without it, in one line; empty where it does not.

    most   bytes of a table that leaves are looked up in
    """
    told = spec.values.get("truth", "no")
    if told == "no":
        return ""
    if solution is None:
        name = game.setup().get("map", game.name)
        return f"{spec.name} searches without truth: there is no table of {name}"
    size = table_bytes(solution.table)
    if told in LEAVES and size > most:
        return (
            f"{spec.name} looks up no leaves: the table takes {size:,} bytes of memory unpacked, and {most:,} "
            "are the most"
        )
    return ""
