"""Aggregates updated match by match: ratings, and tables of games and events."""
