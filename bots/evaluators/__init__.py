"""Evaluators: estimates of unfinished positions, as weighted sums of features.

An evaluator returns whole hundredths of an army for Maxie, within ±ESTIMATE_LIMIT, so an estimate is never mistaken for
a win. The numbers 000 to 004 in docstrings are the sources that docs/search.md lists.
"""

from __future__ import annotations

from arena.bots.evaluators.catalogue import NAMES, UnknownEvaluator, dynamic_predicate, evaluator_for
from arena.bots.evaluators.linear import BadWeights

__all__ = ["NAMES", "BadWeights", "UnknownEvaluator", "dynamic_predicate", "evaluator_for"]
