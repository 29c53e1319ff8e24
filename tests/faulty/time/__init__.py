"""Bots that take too long, or let others wait."""
