"""The rules of the games: pure and immutable, with no dependency except msgspec in `games.plain`.

Start at `games.core` for the interface, and at `games.catalogue` to find a game by its name.
"""
