"""The weighted linear evaluation: w₁·f₁ + … + wₙ·fₙ (003, the evaluation function).

The features of a game come together, as one function from a position to as many whole numbers as the
game has feature names, because they share work. Every feature counts for Maxie: what is good for her
is positive, and the mirror image of a position has the opposite numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from arena.bots.search.problem import Evaluator
from arena.bots.search.values import clamp
from arena.games.core import P

Features = Callable[[P], Sequence[int]]
"""The features of a position, in the order of the game's feature names."""

Weights = Mapping[str, int]
"""For each feature name, hundredths of an army for each unit of the feature."""


def weighted(features: Features[P], names: Sequence[str], weights: Weights) -> Evaluator[P]:
    """The evaluator of these weights. Raises KeyError when a feature has none."""
    factors = tuple(weights[name] for name in names)

    def evaluate(position: P) -> int:
        return clamp(sum(w * f for w, f in zip(factors, features(position), strict=True)))

    return evaluate
