"""Evaluators: estimates of unfinished positions, as weighted sums of features.

An evaluator returns whole hundredths of an army for Maxie, within ±ESTIMATE_LIMIT, so an estimate is never mistaken for
a win. The numbers 000 to 004 in docstrings are the sources that docs/search.md lists.
"""
