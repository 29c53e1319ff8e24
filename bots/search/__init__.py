"""Search algorithms of five published sources, for any `games.core.Game`, written to be read by students.

This package is the reference implementation: plain Python, exact, traceable, and the standard against which the
compiled engine is tested.

The numbers 000 to 004 in docstrings are the sources that docs/search.md lists. That page also explains the mistakes in
the sources, each under the heading Erratum.
"""
