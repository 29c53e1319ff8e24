"""Stored ratings, and stored tables of games and events, which are updated after each finished match."""
