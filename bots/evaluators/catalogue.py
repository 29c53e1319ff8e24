"""The evaluators by name: `plain`, `features`, `outcomes`, or the path of a file that was learned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from arena.bots.evaluators import riskless, tictactoe
from arena.bots.evaluators.linear import Features, Weights, weighted
from arena.bots.evaluators.outcomes import by_category, categorize, load_outcomes
from arena.bots.evaluators.weights import FOLDER, load_weights
from arena.bots.search.problem import Evaluator
from arena.bots.search.values import ESTIMATE_LIMIT, clamp
from arena.games.core import Game, M, P
from arena.games.riskless import Riskless
from arena.games.tictactoe import TicTacToe

OUTCOMES = "outcomes"
NAMES = ("plain", "features", OUTCOMES)
OUTCOMES_FILE = "outcomes.toml"
"""How the name of a file of outcomes ends; that of any other file is of weights."""

CARRIES_VALUES = "explicit"
"""The game whose positions carry their values: its estimates are taken as they are."""


class UnknownEvaluator(ValueError):
    """No evaluator of that name; the message says which there are."""


def features_of(game: Game[Any, Any]) -> tuple[Features[Any], Sequence[str]] | None:
    """The features of a game and their names, or None for a game that has none."""
    if isinstance(game, Riskless):
        return riskless.features(game), riskless.NAMES
    if isinstance(game, TicTacToe):
        return tictactoe.features(game), tictactoe.NAMES
    return None


def dynamic_for(game: Game[Any, Any]) -> Callable[[Any], bool] | None:
    """Which positions of the game are too lively to be judged by an evaluator (000); None where nothing is known of it."""
    return riskless.under_attack(game) if isinstance(game, Riskless) else None


def units(game: Game[Any, Any]) -> Sequence[float]:
    """What one of each feature's units counts in this game: those of Riskless differ from map to map."""
    if isinstance(game, Riskless):
        return riskless.units(game.map)
    return [1.0] * len(tictactoe.NAMES)


def on_its_map(game: Game[Any, Any], weights: Weights) -> Weights:
    """The weights, in the order of the features' names, for positions of this game: whole numbers for whole features."""
    return {
        name: round(weight * unit) for (name, weight), unit in zip(weights.items(), units(game), strict=True)
    }


def plain(game: Game[P, M]) -> Evaluator[P]:
    """The game's own estimate in hundredths; for an explicit tree, the value that the leaf carries."""
    estimate = game.estimate
    if game.name == CARRIES_VALUES:
        return lambda position: clamp(estimate(position))

    def evaluate(position: P) -> int:
        value = 100 * estimate(position)
        # asked here, since a call for each leaf of a search takes as long as the estimate
        return value if -ESTIMATE_LIMIT <= value <= ESTIMATE_LIMIT else clamp(value)

    return evaluate


def evaluator_for(game: Game[P, M], name: str = "plain") -> Evaluator[P]:
    """The evaluator of that name for positions of `game`.

    `features` takes the weights that come with the project; a game without features has only its
    plain estimate, and `features` means that. `outcomes` takes the outcomes that come with it. A name that ends in
    `outcomes.toml` is a file of outcomes, in `.toml` a weights file.

    Raises UnknownEvaluator or BadWeights.
    """
    if name == "plain":
        return plain(game)
    if name == OUTCOMES or name.endswith(OUTCOMES_FILE):
        category_of = categorize(game)
        if category_of is None:
            raise UnknownEvaluator(f"{game.name} has no categories of positions: use plain")
        path = FOLDER / f"{game.name}-{OUTCOMES_FILE}" if name == OUTCOMES else Path(name)
        return by_category(game, category_of, load_outcomes(path))
    if name != "features" and not name.endswith(".toml"):
        raise UnknownEvaluator(
            f"no evaluator is called {name!r:.60}: there are {', '.join(NAMES)}, and files NAME.toml"
        )
    found = features_of(game)
    if found is None:
        if name == "features":
            return plain(game)
        raise UnknownEvaluator(f"{game.name} has no features, so no weights file fits: use plain")
    features, names = found
    path = FOLDER / f"{game.name}.toml" if name == "features" else Path(name)
    return cast("Evaluator[P]", weighted(features, names, on_its_map(game, load_weights(path, names))))
