"""Evaluator that values a position by the results of matches with similar positions (source 003 in docs/search.md).

Positions that look alike to the player to move form a category (`make_category_function`). The results of all matches with
a position of the category give the category's expected outcome: the share of wins minus the share of losses. For example,
50 % wins, 10 % losses and 40 % draws give 0.5 · 1 + 0.1 · -1 + 0.4 · 0 = 0.4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from arena.bots.api.engine_spec import BadSpec
from arena.bots.evaluators import riskless, tictactoe
from arena.bots.evaluators.linear import BadWeights
from arena.bots.search.problem import Evaluator
from arena.games.core import Game
from arena.games.riskless import Riskless
from arena.games.tictactoe import TicTacToe
from arena.toml_file import BadTomlFile, TomlFile

PositionCategory = tuple[int, ...]
"""Category of similar positions: a few small numbers that the positions have in common, such as a lead in armies."""
OutcomeCounts = tuple[int, int, int]
"""Numbers of matches that the player to move in a position of one category won, drew and lost, in this order."""
CategoryFunction = Callable[[Any], PositionCategory]

CERTAIN_WIN_ESTIMATE = 10_000
"""Value, in hundredths of an army, of a position if the player to move won all matches with similar positions."""
RACE_LEAD_STEP_COUNT = 8
"""Number of steps from 0 to the goal (the armies that win a match). A category of Riskless has the lead in such steps."""
MAX_COUNT_IN_CATEGORY = 2
"""Maximum absolute value of a count of territories or lines in a `PositionCategory`.

Larger counts are cut to this maximum, so that there are few categories, each with many matches.
"""


def make_category_function(game: Game[Any, Any]) -> CategoryFunction:
    """Return the function that maps a game's positions to categories. Raises BadSpec for a game without categories.

    A category of Riskless has three numbers (the mover is the player to move):
    - the mover's lead in the race to the goal (feature `race`), in eighths of the goal
    - the number of territories that the mover can take from the opponent with the next move
    - the number of territories that the opponent could take if it were the opponent's turn

    A category of tic-tac-toe has three numbers, too. Each is a number of the mover, minus the same number of the opponent:
    - lines (rows, columns and diagonals) without a mark of the other player
    - such lines with two marks of the player
    - the player's marks in the middle cell, 0 or 1

    Counts are limited to MAX_COUNT_IN_CATEGORY.
    """
    if isinstance(game, Riskless):
        compute_features, armies_to_win = riskless.make_feature_function(game), game.map.armies_to_win
        indexes = [riskless.FEATURE_NAMES.index(name) for name in ("race", "attacks", "exposed")]

        def compute_riskless_category(position: Any) -> PositionCategory:
            features, sign = compute_features(position), game.player(position).sign
            race, attacks, exposed = (sign * features[index] for index in indexes)
            step = abs(race) * RACE_LEAD_STEP_COUNT // armies_to_win
            return (
                step if race >= 0 else -step,
                min(attacks, MAX_COUNT_IN_CATEGORY),
                min(exposed, MAX_COUNT_IN_CATEGORY),
            )

        return compute_riskless_category
    if isinstance(game, TicTacToe):
        compute_line_features = tictactoe.make_feature_function(game)

        def compute_tictactoe_category(position: Any) -> PositionCategory:
            sign = game.player(position).sign
            open_lines, _, twos, center = (sign * n for n in compute_line_features(position))
            return (
                max(-MAX_COUNT_IN_CATEGORY, min(open_lines, MAX_COUNT_IN_CATEGORY)),
                max(-MAX_COUNT_IN_CATEGORY, min(twos, MAX_COUNT_IN_CATEGORY)),
                center,
            )

        return compute_tictactoe_category
    raise BadSpec(
        f"the evaluator outcomes supports only riskless and tictactoe, not {game.name}: use evaluator=plain"
    )


def compute_expected_outcome(counts: OutcomeCounts) -> float:
    """Return the expected outcome for the player to move, from -1 (all matches lost) to 1 (all won).

    At least one of the counts must not be 0.
    """
    won, drawn, lost = counts
    return (won - lost) / (won + drawn + lost)


def make_outcomes_evaluator(
    game: Game[Any, Any], get_category: CategoryFunction, outcomes: Mapping[PositionCategory, OutcomeCounts]
) -> Evaluator[Any]:
    """Return the evaluator that values a position by the expected outcome of its category.

    get_category  function that returns the category of a position
    outcomes      counts of wins, draws and losses of each category; a position of any other category has the value 0
    """
    values = {
        category: round(CERTAIN_WIN_ESTIMATE * compute_expected_outcome(counts))
        for category, counts in outcomes.items()
    }

    def evaluate(position: Any) -> int:
        return game.player(position).sign * values.get(get_category(position), 0)

    return evaluate


class OutcomesFile(Struct, frozen=True):
    """Content of an outcomes file: the results of matches by category of positions."""

    outcomes: dict[str, Any]
    """Counts of wins, draws and losses, such as `[5, 4, 1]`, for each category, such as `3 1 0`."""


def load_outcome_counts(path: Path) -> Mapping[PositionCategory, OutcomeCounts]:
    """Return the outcomes in the file at `path`: the counts of each category. Raises BadWeights if the file is invalid.

    The file's table [outcomes] maps a category's numbers, such as "3 1 0", to the counts of wins, draws and losses.
    """
    try:
        file = TomlFile.read_file(path)
        return dict(
            file.parse_value_at(["outcomes", key], _parse_category_and_outcome_counts, (key, counts))
            for key, counts in file.convert_to_struct(OutcomesFile).outcomes.items()
        )
    except BadTomlFile as error:
        raise BadWeights(str(error)) from None


def _parse_category_and_outcome_counts(outcome: tuple[str, Any]) -> tuple[PositionCategory, OutcomeCounts]:
    key, counts = outcome
    try:
        category = tuple(int(word) for word in key.split())
    except ValueError:
        raise ValueError(
            f"the key must be whole numbers separated by spaces, e.g. '3 1 0', not {key!r:.40}"
        ) from None
    if isinstance(counts, list) and len(counts) == len(("won", "drawn", "lost")):
        won, drawn, lost = counts
        if all(type(n) is int and n >= 0 for n in counts) and any(counts):
            return category, (won, drawn, lost)
    raise ValueError(f"must be the numbers of wins, draws and losses, e.g. [5, 4, 1], not {counts!r:.40}")


def format_outcomes_file(comments: list[str], outcomes: Mapping[PositionCategory, OutcomeCounts]) -> str:
    """Return the text of an outcomes file, which `load_outcome_counts` reads, with the lines `comments` at the top."""
    rows = [f'"{" ".join(map(str, category))}" = {list(outcomes[category])}' for category in sorted(outcomes)]
    return "\n".join([*(f"# {line}" for line in comments), "[outcomes]", *rows, ""])
