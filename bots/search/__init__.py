"""Search algorithms of the sources, readable for students. They work on any `games.core.Game`.

This is the reference implementation: plain Python, exact, traceable, and the oracle for tests of the compiled engine.

The numbers 000 to 004 in docstrings are the five sources that docs/search.md lists. That page also explains the errata.
"""
