"""The expected outcome of a category of positions (003, the evaluation function): 0.5 · 1 + 0.1 · -1 + 0.4 · 0 = 0.4.

Positions that look alike to whoever is to move are one category. What became of all that were seen in matches tells
what another one of it is worth: its share of wins less its share of losses. How likely a position of the category
is has no number of its own: it was seen as often as it came up.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from arena.bots.evaluators import riskless, tictactoe
from arena.bots.evaluators.weights import BadWeights
from arena.bots.search.problem import Evaluator
from arena.games.core import Game
from arena.games.riskless import Riskless
from arena.games.tictactoe import TicTacToe

Category = tuple[int, ...]
Counts = tuple[int, int, int]
"""How often who was to move won, drew and lost."""
Categorize = Callable[[Any], Category]

CERTAIN = 10_000
"""What a certain win is worth; where nothing is known of a category, it is worth 0, as much as a draw."""
STEPS = 8
"""Into how many steps either side's half of Riskless's race is parted."""
FEW = 2
"""More than so many, of what is counted, are as good as so many."""


def categorize(game: Game[Any, Any]) -> Categorize | None:
    """What tells the categories of a game apart, or None for a game that has none.

    Riskless: who is ahead in the race to the goal, by an eighth of it; what could be taken, and what could be lost.
    Tic-tac-toe: the open lines, those with two marks, and the middle, each as mine less yours.
    """
    if isinstance(game, Riskless):
        count, goal = riskless.features(game), game.map.armies_to_win
        places = [riskless.NAMES.index(name) for name in ("race", "attacks", "exposed")]

        def of_riskless(position: Any) -> Category:
            found, sign = count(position), game.player(position).sign
            race, attacks, exposed = (sign * found[place] for place in places)
            step = abs(race) * STEPS // goal
            return (step if race >= 0 else -step, min(attacks, FEW), min(exposed, FEW))

        return of_riskless
    if isinstance(game, TicTacToe):
        lines = tictactoe.features(game)

        def of_tictactoe(position: Any) -> Category:
            sign = game.player(position).sign
            opened, _, twos, center = (sign * n for n in lines(position))
            return (max(-FEW, min(opened, FEW)), max(-FEW, min(twos, FEW)), center)

        return of_tictactoe
    return None


def expected(counts: Counts) -> float:
    """The expected outcome for who is to move, from -1 to 1."""
    won, drawn, lost = counts
    return (won - lost) / (won + drawn + lost)


def by_category(
    game: Game[Any, Any], category_of: Categorize, outcomes: Mapping[Category, Counts]
) -> Evaluator[Any]:
    """The evaluator that knows these outcomes."""
    values = {category: round(CERTAIN * expected(counts)) for category, counts in outcomes.items()}

    def evaluate(position: Any) -> int:
        return game.player(position).sign * values.get(category_of(position), 0)

    return evaluate


def load_outcomes(path: Path) -> Mapping[Category, Counts]:
    """The outcomes in a file: a table [outcomes], a category's numbers to what was won, drawn and lost. Raises BadWeights."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadWeights(f"cannot read outcomes {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadWeights(f"{path}: not TOML: {error}") from None
    table = data.get("outcomes")
    if not isinstance(table, dict):
        raise BadWeights(f"{path}: there must be a table [outcomes]")
    return {_category(path, key): _counts(path, key, value) for key, value in table.items()}


def _category(path: Path, key: str) -> Category:
    try:
        return tuple(int(word) for word in key.split())
    except ValueError:
        raise BadWeights(f"{path}: outcomes.{key!r:.40} must be whole numbers, as in '3 1 0'") from None


def _counts(path: Path, key: str, value: object) -> Counts:
    if isinstance(value, list) and len(value) == len(("won", "drawn", "lost")):
        won, drawn, lost = value
        if all(type(n) is int and n >= 0 for n in value) and any(value):
            return won, drawn, lost
    raise BadWeights(
        f"{path}: outcomes.{key!r:.40} must be how often it was won, drawn and lost, as in [5, 4, 1], not {value!r:.40}"
    )


def outcomes_text(told: list[str], outcomes: Mapping[Category, Counts]) -> str:
    """The file that `load_outcomes` reads, under lines that tell how it was made."""
    rows = [f'"{" ".join(map(str, category))}" = {list(outcomes[category])}' for category in sorted(outcomes)]
    return "\n".join([*(f"# {line}" for line in told), "[outcomes]", *rows, ""])
