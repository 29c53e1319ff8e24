"""Weighted linear evaluation: w₁·f₁ + … + wₙ·fₙ (source 003, the evaluation function).

Each fᵢ is a feature of the position, and wᵢ its weight. One function computes all features of a game, because they share
work: it maps a position to one whole number for each feature name. Every feature is seen from Maxie's side: positive
numbers are good for her. If the players exchange their pieces, each number changes its sign.

Weights are TOML files with one table `[weights]`, which has a whole number for each feature.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from arena.bots.search.problem import Evaluator
from arena.bots.search.search_values import clamp_estimate
from arena.games.core import P

FeatureFunction = Callable[[P], Sequence[int]]
"""Function that maps a position to its features, in the order of the game's feature names."""

Weights = Mapping[str, int]
"""Weight of each feature, by name, in hundredths of an army per unit of the feature."""


def make_linear_evaluator(
    features: FeatureFunction[P], names: Sequence[str], weights: Weights
) -> Evaluator[P]:
    """Return the evaluator that sums the weighted features, limited to ±ESTIMATE_LIMIT.

    `names` are the feature names, in the order of the numbers that `features` returns. Raises KeyError if a feature has no
    weight.
    """
    factors = tuple(weights[name] for name in names)

    def evaluate(position: P) -> int:
        return clamp_estimate(sum(w * f for w, f in zip(factors, features(position), strict=True)))

    return evaluate


WEIGHTS_FOLDER = Path(__file__).parent / "weights"
"""Folder of the weights and outcomes that come with the project, in files named after their games."""

MAX_WEIGHT = 1_000_000
"""Largest absolute weight that a weights file may contain."""


class BadWeights(ValueError):
    """Raised when a weights file cannot be used; the message contains the file, the key and the valid form."""


def read_toml(path: Path, content: str) -> dict[str, Any]:
    """Return the tables of the TOML file at `path`, which holds `content`. Raises BadWeights if the file cannot be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadWeights(f"cannot read {content} {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadWeights(f"{path}: not valid TOML: {error}") from None


def load_weights(path: Path, names: Sequence[str]) -> Weights:
    """Return the weights in the file at `path`, one for each of `names` and in their order.

    Raises BadWeights if the file cannot be read or is invalid.
    """
    data = read_toml(path, "weights")
    weights = data.get("weights")
    if not isinstance(weights, dict):
        raise BadWeights(f"{path}: the file has no table [weights]; add one with the keys {', '.join(names)}")
    for name in weights:
        if name not in names:
            raise BadWeights(f"{path}: weights.{name}: no such feature: choose from {', '.join(names)}")
    for name in names:
        weight = weights.get(name)
        if isinstance(weight, bool) or not isinstance(weight, int) or abs(weight) > MAX_WEIGHT:
            raise BadWeights(
                f"{path}: weights.{name} must be a whole number from -{MAX_WEIGHT} to {MAX_WEIGHT}, "
                f"in hundredths of an army per unit of the feature, not {weight!r:.40}"
            )
    return {name: weights[name] for name in names}
