"""Evaluators: functions that estimate the value of an unfinished position.

An estimate is a whole number of hundredths of an army, high if the position is good for Maxie, the player who moves
first. It lies within ±ESTIMATE_LIMIT, because larger values mean a certain win or loss. Docstrings
name their sources by the numbers in docs/search.md, 000 to 004.
"""
