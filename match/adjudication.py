"""Adjudication: rules that end a match early, applied after each move.

Some rules use the values of positions that bots send with their moves. Such a rule ends a match only if both bots
agree on the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arena.games.core import AnyGame, Player
from arena.games.riskless import RisklessPosition
from arena.match.repetition import RepetitionCounter
from arena.protocol.adjudication import REPETITION_DETAIL_PREFIX, TABLEBASE_RULE, Adjudication
from arena.protocol.record import RecordedMove
from arena.solved.solution import Solution, explain_missing_solution, load_solution
from arena.solved.solved_value import SolvedResult


@dataclass(frozen=True)
class AdjudicatedResult:
    """Early end of a match by an adjudication rule. `winner` is None for a draw; `detail` gives the reason."""

    winner: Player | None
    detail: str


class Adjudicator:
    """Adjudicator of one match: it ends the match early if one of the rules for early ends decides it.

    Call `count_position_occurrence` for the start position and the positions of the opening, which count only for
    repetitions, and `adjudicate_position` for all later positions: once for each position, in order.
    """

    def __init__(self, rules: Adjudication, game: AnyGame) -> None:
        self._rules = rules
        # Without the rule `repetition`, positions are not counted, to save memory.
        self._repetition_counter = RepetitionCounter(game) if rules.repetition is not None else None
        self._solution = load_solution(game) if rules.table else None
        # Most servers use only `repetition`. Then a position that occurred less often needs no further check.
        has_only_repetition = rules == Adjudication(repetition=rules.repetition)
        self._min_occurrences = (rules.repetition or 0) if has_only_repetition else 0

    def count_position_occurrence(self, position: object) -> None:
        """Count the start position, or one of the opening, towards a draw by repetition. This call never ends the match."""
        if self._repetition_counter is not None:
            self._repetition_counter.count_occurrence(position)

    def adjudicate_position(
        self, position: object, moves: Sequence[RecordedMove]
    ) -> AdjudicatedResult | None:
        """Count `position`, reached by the last of `moves`. Return the early end of the match; None if the match goes on.

        moves  all moves of the match so far, including the opening
        """
        occurrence_count = (
            self._repetition_counter.count_occurrence(position) if self._repetition_counter is not None else 1
        )
        if occurrence_count < self._min_occurrences:
            return None
        return adjudicate(self._rules, position, moves, occurrence_count, self._solution)


def adjudicate(
    rules: Adjudication,
    position: object,
    moves: Sequence[RecordedMove],
    occurrence_count: int,
    solution: Solution | None = None,
) -> AdjudicatedResult | None:
    """Return the early end of a match in which `moves` led to `position`; None if the match goes on.

    moves             all moves of the match so far, including the opening
    occurrence_count  number of occurrences of the position in the match so far, including the current one
    solution          exact values of all positions of the game's map; None if the map is not solved

    The rules of `protocol.adjudication.Adjudication` apply in this order: `repetition`, `table`, `win`, `draw`, `limit`.
    """
    # `occurrence_count` exceeds the limit if the opening already repeated the position.
    if rules.repetition is not None and occurrence_count >= rules.repetition:
        return AdjudicatedResult(
            None,
            f"{REPETITION_DETAIL_PREFIX}: the same position came up {occurrence_count} times, with the same player to move",
        )
    verdict = None
    if rules.table and solution is not None and isinstance(position, RisklessPosition):
        verdict = _adjudicate_by_tablebase(position, solution)
    if verdict is None and not (rules.win is rules.draw is None or len(moves) < 2 * rules.moves):
        verdict = _adjudicate_by_reported_values(rules, moves)
    if verdict is None and rules.limit is not None and len(moves) >= rules.limit:
        detail = f"{len(moves)} plies were played, and the adjudication limit is {rules.limit}"
        verdict = AdjudicatedResult(None, detail)
    return verdict


def _adjudicate_by_tablebase(position: RisklessPosition, solution: Solution) -> AdjudicatedResult | None:
    value = solution.probe_position(position)
    if value.result is SolvedResult.DRAW:
        return None
    winner = position.player if value.result is SolvedResult.WIN else position.player.opponent
    return AdjudicatedResult(winner, f"{TABLEBASE_RULE}: {winner} forces a win in {value.plies} plies")


def _adjudicate_by_reported_values(
    rules: Adjudication, moves: Sequence[RecordedMove]
) -> AdjudicatedResult | None:
    values = [_get_analysis_value(move) for move in moves[-2 * rules.moves :]]
    known_values = [value for value in values if value is not None]
    if len(known_values) < len(values):
        return None
    moves_text = f"in their last {rules.moves} moves each" if rules.moves > 1 else "in their last move each"
    if rules.win is not None:
        for player in Player:
            if all(player.sign * value >= rules.win for value in known_values):
                return AdjudicatedResult(
                    player, f"both bots said {moves_text} that {player} wins, by {rules.win:g} or more"
                )
    if (
        rules.draw is not None
        and len(moves) >= rules.after
        and all(abs(value) <= rules.draw for value in known_values)
    ):
        return AdjudicatedResult(
            None, f"both bots said {moves_text} that it is a draw, within {rules.draw:g}"
        )
    return None


def _get_analysis_value(move: RecordedMove) -> float | None:
    return move.thinking.value if move.thinking is not None else None


def explain_missing_tablebase(rules: Adjudication | None, game: AnyGame) -> str | None:
    """Return why the rule `table` (end by a solved table) cannot apply to `game`; None if it can, or is not in `rules`."""
    return None if rules is None or not rules.table else explain_missing_solution(game) or None
