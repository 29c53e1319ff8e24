"""Retrograde analysis in compiled code: every position of a small game is solved, from the finished ones backwards."""
