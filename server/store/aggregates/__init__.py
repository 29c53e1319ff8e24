"""Aggregates that are updated after each match: ratings, and tables of games and events."""
