"""Evaluators by name: `plain`, `features`, `outcomes`, or the path of a file (weights, outcomes, or a neural network)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from arena.bots.api.engine_spec import BadSpec
from arena.bots.evaluators import riskless, tictactoe
from arena.bots.evaluators.linear import (
    EVALUATOR_FILES_FOLDER,
    FeatureFunction,
    FeatureWeights,
    load_weights,
    make_linear_evaluator,
)
from arena.bots.evaluators.outcomes import (
    load_outcome_counts,
    make_category_function,
    make_outcomes_evaluator,
)
from arena.bots.search.problem import Evaluator
from arena.bots.search.search_values import ESTIMATE_LIMIT, clamp_estimate
from arena.games.core import Game, M, P
from arena.games.riskless import Riskless
from arena.games.tictactoe import TicTacToe

OUTCOMES_EVALUATOR_NAME = "outcomes"
"""Name of the evaluator that uses the project's own outcomes file, with results of matches."""
BUILT_IN_EVALUATOR_NAMES = ("plain", "features", OUTCOMES_EVALUATOR_NAME)
"""Names of the evaluators that need no file from the user."""
OUTCOMES_FILE_SUFFIX = "outcomes.toml"
"""Suffix of an outcomes file's name (`evaluators.outcomes`). Any other TOML file contains weights."""
NETWORK_FILE_SUFFIX = ".npz"
"""Suffix of a network file's name (`evaluators.network`)."""

MAX_NEIGHBOURS_ON_RING_OR_PATH = 2
"""Maximum number of neighbours of each territory on a map that is a ring or a path (`find_built_in_weights_file`)."""

EXPLICIT_TREE_GAME_NAME = "explicit"
"""Name of the game of explicit trees (`games.explicit`), whose leaves contain their values."""


def get_feature_function_and_names(game: Game[Any, Any]) -> tuple[FeatureFunction[Any], Sequence[str]]:
    """Return the feature function of a game and the features' names. Raises BadSpec if the game has no features."""
    if isinstance(game, Riskless):
        return riskless.make_feature_function(game), riskless.FEATURE_NAMES
    if isinstance(game, TicTacToe):
        return tictactoe.make_feature_function(game), tictactoe.FEATURE_NAMES
    raise BadSpec(f"{game.name} has no evaluation features: use evaluator=plain")


def require_evaluator_support(game: Game[Any, Any], evaluator_name: str) -> None:
    """Raise BadSpec if the game does not support the evaluator called `evaluator_name`.

    A game without features does not support `features`, although `evaluator_for` then returns the evaluator `plain`.
    """
    if evaluator_name.endswith(NETWORK_FILE_SUFFIX):
        if not isinstance(game, Riskless):
            raise BadSpec(f"network evaluators support only riskless, not {game.name}: use evaluator=plain")
    elif evaluator_name == OUTCOMES_EVALUATOR_NAME or evaluator_name.endswith(OUTCOMES_FILE_SUFFIX):
        make_category_function(game)
    elif evaluator_name == "features" or evaluator_name.endswith(".toml"):
        get_feature_function_and_names(game)


def _get_game_name_for_weights(game: Game[Any, Any]) -> str:
    """Return the name of the game whose weights and outcomes apply to `game`: `riskless` also for a subclass of Riskless."""
    return next(
        (game_type.name for game_type in (Riskless, TicTacToe) if isinstance(game, game_type)), game.name
    )


def make_dynamic_position_predicate(game: Game[Any, Any]) -> Callable[[Any], bool] | None:
    """Return a predicate that is True for dynamic positions, in which the next move may change the estimate much.

    The term dynamic is from source 000 in docs/search.md. Return None for a game other than Riskless.
    """
    return riskless.make_attack_predicate(game) if isinstance(game, Riskless) else None


def compute_feature_weight_factors(game: Game[Any, Any]) -> Sequence[float]:
    """Return the factor by which `scale_weights` multiplies each weight, in the order of the feature names.

    In Riskless the factors depend on the map, so that one set of weights serves all maps. In other games the factors are 1.
    """
    if isinstance(game, Riskless):
        return riskless.compute_feature_weight_factors(game.map)
    return [1.0] * len(tictactoe.FEATURE_NAMES)


def scale_weights(game: Game[Any, Any], weights: FeatureWeights) -> FeatureWeights:
    """Return the weights of features converted to this game: each multiplied by its factor, and rounded.

    In Riskless the factors adapt the weights to the map (`compute_feature_weight_factors`); in other games the factors are 1.
    `weights` must be in the order of the feature names, as from `load_weights`.
    """
    return {
        name: round(weight * factor)
        for (name, weight), factor in zip(weights.items(), compute_feature_weight_factors(game), strict=True)
    }


def find_built_in_weights_file(game: Game[Any, Any]) -> Path:
    """Return the file of the project's own weights for a game.

    Riskless has three files: for maps that are rings, for maps that are paths, and for all other maps. On a ring each
    territory has two neighbours; on a path the two territories at the ends have only one.
    """
    name = _get_game_name_for_weights(game)
    if isinstance(game, Riskless):
        neighbour_counts = set(map(len, game.map.neighbours))
        if max(neighbour_counts) <= MAX_NEIGHBOURS_ON_RING_OR_PATH:
            name += "-rings" if neighbour_counts == {MAX_NEIGHBOURS_ON_RING_OR_PATH} else "-lines"
    return EVALUATOR_FILES_FOLDER / f"{name}.toml"


def load_scaled_weights(
    game: Game[Any, Any], evaluator_name: str, feature_names: Sequence[str]
) -> FeatureWeights:
    """Return the weights of an evaluator, scaled for this game by `scale_weights`.

    Raises BadWeights if the weights file is invalid.

    evaluator_name  `features`, or the path of a weights file
    feature_names   names of the game's features
    """
    path = find_built_in_weights_file(game) if evaluator_name == "features" else Path(evaluator_name)
    return scale_weights(game, load_weights(path, feature_names))


def make_game_estimate_evaluator(game: Game[P, M]) -> Evaluator[P]:
    """Return the evaluator `plain`, which multiplies the game's own estimate by 100.

    In Riskless, whose estimate is in armies, the unit of the result is a hundredth of an army.

    For an explicit tree (`games.explicit`), the evaluator returns the value of the leaf unchanged.
    """
    estimate = game.estimate
    if game.name == EXPLICIT_TREE_GAME_NAME:
        return lambda position: clamp_estimate(estimate(position))

    def evaluate(position: P) -> int:
        value = 100 * estimate(position)
        # checked inline, because a call for each leaf would take as long as the estimate
        return value if -ESTIMATE_LIMIT <= value <= ESTIMATE_LIMIT else clamp_estimate(value)

    return evaluate


def evaluator_for(game: Game[P, M], name: str = "plain") -> Evaluator[P]:
    """Return the evaluator called `name` for positions of `game`.

    plain           the game's own estimate
    features        weighted features, with the project's weights; the same as `plain` for a game without features
    outcomes        results of recorded matches with similar positions, from the project's own file
    NAME.toml       weighted features, with the weights in this file
    …outcomes.toml  results of recorded matches with similar positions, from this file
    NAME.npz        neural network in this file; needs NumPy

    Raises BadSpec if there is no such evaluator or the game does not support it, and BadWeights for an invalid file.
    """
    if name == "plain":
        return make_game_estimate_evaluator(game)
    if name not in BUILT_IN_EVALUATOR_NAMES and not name.endswith((".toml", NETWORK_FILE_SUFFIX)):
        raise BadSpec(
            f"no evaluator is called {name!r:.60}: choose from {', '.join(BUILT_IN_EVALUATOR_NAMES)}, or a file NAME.toml or NAME.npz"
        )
    if name == OUTCOMES_EVALUATOR_NAME or name.endswith(OUTCOMES_FILE_SUFFIX):
        path = (
            EVALUATOR_FILES_FOLDER / f"{_get_game_name_for_weights(game)}-{OUTCOMES_FILE_SUFFIX}"
            if name == OUTCOMES_EVALUATOR_NAME
            else Path(name)
        )
        return make_outcomes_evaluator(game, make_category_function(game), load_outcome_counts(path))
    if name.endswith(NETWORK_FILE_SUFFIX):
        require_evaluator_support(game, name)
        from arena.bots.evaluators.network import load_network, make_network_evaluator  # noqa: PLC0415 - an extra

        return cast("Evaluator[P]", make_network_evaluator(cast("Any", game), load_network(Path(name))))
    try:
        features, names = get_feature_function_and_names(game)
    except BadSpec:
        if name == "features":
            return make_game_estimate_evaluator(game)
        raise
    return cast(
        "Evaluator[P]", make_linear_evaluator(features, names, load_scaled_weights(game, name, names))
    )
