"""Bots that fail before they play."""
