"""Stored ratings, and stored tables of results for games and events. Each finished match updates them."""
