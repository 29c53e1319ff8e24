"""Evaluators: functions that estimate the value of an unfinished position.

An estimate is a whole number of hundredths of an army, high if the position is good for Maxie, within ±ESTIMATE_LIMIT, so
that it cannot be mistaken for a certain win. Docstrings name their sources by the numbers in docs/search.md, 000 to 004.
"""
