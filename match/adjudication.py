"""Whether a match ends before its game does: a function of the match so far, asked after each move.

A bot's value is believed only where the opponent's says the same; what is solved is solved by the rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arena.games.core import AnyGame, Player
from arena.games.riskless import Armies
from arena.match.recurrence import Recurrence
from arena.match.solve import solve
from arena.protocol.adjudication import REPETITION, TABLE, Adjudication
from arena.protocol.record import RecordedMove
from arena.solved.header import BadTable
from arena.solved.solution import Solution, solution_of


@dataclass(frozen=True)
class Verdict:
    """How a match is ended, and why. `winner` is None for a draw."""

    winner: Player | None
    detail: str


class Adjudicator:
    """The adjudication of one match in progress: it counts the positions for whoever plays, where a rule asks for it."""

    def __init__(self, rules: Adjudication | None, game: AnyGame) -> None:
        self._rules = rules
        self._game = game
        # Without the rule nothing is counted, which saves the memory.
        self._recurrence = Recurrence(game) if rules is not None and rules.repetition is not None else None
        self._solution = solution_of(game) if rules is not None and rules.table else None

    def count(self, position: object) -> None:
        """Note a position that has come up: the start, and what each move led to."""
        if self._recurrence is not None:
            self._recurrence.add(position)

    def verdict(self, position: object, moves: Sequence[RecordedMove]) -> Verdict | None:
        """What `adjudicate` says of the position that was counted last."""
        if self._rules is None:
            return None
        times = self._recurrence.latest if self._recurrence is not None else 1
        return adjudicate(self._rules, self._game, position, moves, times, self._solution)


def adjudicate(
    rules: Adjudication | None,
    game: AnyGame,
    position: object,
    moves: Sequence[RecordedMove],
    times: int,
    solution: Solution | None = None,
) -> Verdict | None:
    """The verdict on a match that its game has not ended, if there is one: `moves` have led to `position`.

    times     how often the position has come up in the match, this time included
    solution  the truth of the game, where its map is solved

    What has happened goes before what is proven, that before what is agreed, and the ply limit comes last.
    """
    if rules is None:
        return None
    # More often than that it has come up where the opening repeated it already.
    if rules.repetition is not None and times >= rules.repetition:
        return _repeated(times)
    verdict = None
    if rules.table and solution is not None and isinstance(position, Armies):
        verdict = _forced(position, solution)
    if verdict is None and rules.solve is not None:
        verdict = _solved(game, position, rules.solve)
    if verdict is None and not (rules.win is rules.draw is None or len(moves) < 2 * rules.moves):
        verdict = _agreed(rules, moves)
    if verdict is None and rules.limit is not None and len(moves) >= rules.limit:
        verdict = _limited(len(moves), rules.limit)
    return verdict


def _repeated(times: int) -> Verdict:
    return Verdict(
        None, f"{REPETITION}: the same position came up {times} times, with the same player to move"
    )


def _forced(position: Armies, solution: Solution) -> Verdict | None:
    winner = solution.winner(position)
    if winner is None:
        return None
    plies = solution.truth(position).plies
    return Verdict(winner, f"{TABLE}: {winner} forces a win in {plies} plies")


def _solved(game: AnyGame, position: object, nodes: int) -> Verdict | None:
    found = solve(game, position, nodes)
    if found is None:
        return None
    how = f"a win for {found.winner}" if found.winner else "a draw"
    return Verdict(found.winner, f"solved: {how} with best play")


def _agreed(rules: Adjudication, moves: Sequence[RecordedMove]) -> Verdict | None:
    values = [_value(each) for each in moves[-2 * rules.moves :]]
    told = [value for value in values if value is not None]
    if len(told) < len(values):
        return None
    since = f"in their last {rules.moves} moves each" if rules.moves > 1 else "in their last move each"
    if rules.win is not None:
        for player in Player:
            if all(player.sign * value >= rules.win for value in told):
                return Verdict(player, f"both bots said {since} that {player} wins, by {rules.win:g} or more")
    if (
        rules.draw is not None
        and len(moves) >= rules.after
        and all(abs(value) <= rules.draw for value in told)
    ):
        return Verdict(None, f"both bots said {since} that it is a draw, within {rules.draw:g}")
    return None


def _value(move: RecordedMove) -> float | None:
    return move.thinking.value if move.thinking is not None else None


def _limited(plies: int, limit: int) -> Verdict:
    return Verdict(None, f"{plies} plies were played, and the ladder's limit is {limit}")


def lacks_table(rules: Adjudication | None, game: AnyGame) -> str | None:
    """Why the rules' `table` could end no match of a game here, in one line; None where it can, or is not asked for."""
    if rules is None or not rules.table:
        return None
    try:
        if solution_of(game) is not None:
            return None
    except BadTable as error:
        return str(error)
    name = game.setup().get("map")
    return (
        f"there is no table of {name}: `arena solve {name}` makes one, where the map is small enough"
        if name is not None
        else f"only maps of riskless have tables, and this is {game.name}"
    )
