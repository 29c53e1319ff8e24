"""Tables of solved maps, with the exact value of every position of a small map, made by `arena solve`.

Probing needs only zstandard and msgspec, so that ladders, servers and bots can all do it. `lab.solving`
builds the tables.
"""
