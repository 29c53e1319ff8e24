"""Evaluators: estimates of positions that are not over, as weighted sums of features (003).

An evaluator gives whole hundredths of an army for Maxie, within ±ESTIMATE_LIMIT, so never a win.
"""

from __future__ import annotations

from arena.bots.evaluators.catalogue import NAMES, UnknownEvaluator, dynamic_for, evaluator_for
from arena.bots.evaluators.weights import BadWeights

__all__ = ["NAMES", "BadWeights", "UnknownEvaluator", "dynamic_for", "evaluator_for"]
