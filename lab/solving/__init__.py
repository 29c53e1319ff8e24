"""Retrograde analysis, compiled: every position of a small game, from its ends backwards."""
