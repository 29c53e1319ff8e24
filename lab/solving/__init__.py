"""Retrograde analysis in compiled code: it solves every position of a small game, from the finished ones backwards."""
