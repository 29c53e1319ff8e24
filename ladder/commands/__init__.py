"""The commands that play events."""
