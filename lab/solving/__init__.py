"""Retrograde analysis in compiled code: it computes the value of every position of a small game, from the finished ones backwards."""
