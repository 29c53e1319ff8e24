"""The rules of the games: pure, immutable, on the standard library; `games.plain` also uses msgspec.

Start at `games.core` for the interface, and at `games.catalogue` to find a game by its name.
"""
