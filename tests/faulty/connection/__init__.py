"""Bots that lose more than they should when a match or a connection ends."""
