"""Rules of the games, as pure functions of immutable positions. The only third-party package is msgspec, in `games.plain`.

Start at `games.core` for the interface, and at `games.catalogue` to find a game by its name.
"""
