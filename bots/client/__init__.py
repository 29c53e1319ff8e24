"""A bot's side of the wire."""
