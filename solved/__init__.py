"""Tables of solved maps: what every position of a small map is truly worth, found by `arena solve` and probed here.

Probing needs the standard library and zstandard alone, so that ladders, servers and bots can all do it; what builds a
table is in `lab.solving`.
"""
