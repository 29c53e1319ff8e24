"""Solver of small games by retrograde analysis: it computes the value of every position, from finished positions backwards."""
