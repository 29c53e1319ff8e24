"""Bots that fail at messages which they do not know."""
