"""Retrograde analysis, compiled: solve every position of a small game, from its ends backwards."""
