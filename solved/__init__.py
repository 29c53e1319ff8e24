"""Solved tables: the exact value of every position of a small map, computed by `arena solve` (`lab.solving`).

Reading them needs only zstandard and msgspec, so ladders, servers and bots can all do it.
"""
