"""The algorithms of the sources as a student reads them: they work on any `games.core.Game`.

This is the reference: plain Python, exact, traceable, and the oracle of the compiled engine.
"""
