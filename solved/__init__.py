"""Solved tables: the exact value of every position of a small map, computed by `arena solve` (`lab.solving`).

Reading a table needs only msgspec and Zstandard (`solved.zstandard`), so servers, bots and runners of events can do it.
"""
