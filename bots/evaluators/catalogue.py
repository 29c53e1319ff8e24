"""The evaluators by name: `plain`, `features`, or the path of a weights file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from bots.evaluators import riskless, tictactoe
from bots.evaluators.linear import Features, weighted
from bots.evaluators.weights import FOLDER, load_weights
from bots.search.problem import Evaluator
from bots.search.values import clamp
from games.core import Game, M, P
from games.riskless import Riskless
from games.tictactoe import TicTacToe

NAMES = ("plain", "features")

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


def plain(game: Game[P, M]) -> Evaluator[P]:
    """The game's own estimate in hundredths; for an explicit tree, the value that the leaf carries."""
    estimate = game.estimate
    if game.name == CARRIES_VALUES:
        return lambda position: clamp(estimate(position))
    return lambda position: clamp(100 * estimate(position))


def evaluator_for(game: Game[P, M], name: str = "plain") -> Evaluator[P]:
    """The evaluator of that name for positions of `game`.

    `features` takes the weights that come with the project; a game without features has only its
    plain estimate, and `features` means that. A name that ends in `.toml` is a weights file.

    Raises UnknownEvaluator or BadWeights.
    """
    if name == "plain":
        return plain(game)
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
    return cast("Evaluator[P]", weighted(features, names, load_weights(path, names)))
