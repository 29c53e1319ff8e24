"""Evaluators: functions that estimate the value of an unfinished position.

An estimate is a whole number of hundredths of an army, high if the position is good for Maxie, the player who moves
first. The number lies within ±ESTIMATE_LIMIT, because larger values mean a certain win or loss. Docstrings
refer to published sources by numbers, 000 to 004, which docs/search.md explains.
"""
