"""Stored ratings, and stored tables of results for games and tournaments. Each finished match updates both."""
