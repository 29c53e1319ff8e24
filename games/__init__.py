"""The rules of the games: pure, immutable, standard library only.

Start at `games.core` for the contract, `games.catalogue` to find a game by its name.
"""
