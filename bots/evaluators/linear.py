"""Weighted linear evaluation: w₁·f₁ + … + wₙ·fₙ (source 003 in docs/search.md).

Each fᵢ is a feature of the position, a whole number, and wᵢ its weight. One function computes all features of a game,
because they share parts of the computation. Every feature is seen from Maxie's side: positive numbers are good for her. If
the players exchange their pieces, each feature changes its sign.

A weights file is a TOML file with one table `[weights]`, which has a whole number for each feature.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from msgspec import Meta, defstruct
from msgspec.structs import asdict

from arena.bots.search.problem import Evaluator
from arena.bots.search.search_values import clamp_estimate
from arena.games.core import P
from arena.toml_file import BadTomlFile, TomlFile

FeatureFunction = Callable[[P], Sequence[int]]
"""Function that maps a position to its features, in the order of the game's feature names."""

FeatureWeights = Mapping[str, int]
"""Weight of each feature, by name, in hundredths of an army per unit of the feature."""


def make_linear_evaluator(
    features: FeatureFunction[P], feature_names: Sequence[str], weights: FeatureWeights
) -> Evaluator[P]:
    """Return the evaluator that sums the weighted features, limited to ±ESTIMATE_LIMIT.

    `feature_names` are the feature names, in the order of the numbers that `features` returns. Raises KeyError if a
    feature has no weight.
    """
    factors = tuple(weights[name] for name in feature_names)

    def evaluate(position: P) -> int:
        return clamp_estimate(sum(w * f for w, f in zip(factors, features(position), strict=True)))

    return evaluate


EVALUATOR_FILES_FOLDER = Path(__file__).parent / "weights"
"""Folder of the evaluators' files that come with the project.

Some files have weights of features, such as `riskless.toml`. Others have outcomes (counts of wins, draws and losses from
similar positions), such as `riskless-outcomes.toml`.
"""

MAX_ABSOLUTE_WEIGHT = 1_000_000
"""Largest absolute value of a weight in a weights file."""
FeatureWeight = Annotated[int, Meta(ge=-MAX_ABSOLUTE_WEIGHT, le=MAX_ABSOLUTE_WEIGHT)]


class BadWeights(ValueError):
    """Raised when a weights file cannot be used; the message names the file, the key and what is valid."""


def load_weights(path: Path, feature_names: Sequence[str]) -> FeatureWeights:
    """Return the weights in the file at `path`, one for each of `feature_names` and in their order.

    Raises BadWeights if the file cannot be read or is invalid.
    """
    weights_table = defstruct("WeightsTable", [(name, FeatureWeight) for name in feature_names])
    try:
        file = TomlFile.read_file(path).convert_to_struct(
            defstruct("WeightsFile", [("weights", weights_table)])
        )
    except BadTomlFile as error:
        raise BadWeights(str(error)) from None
    return asdict(asdict(file)["weights"])
