"""Decisions of the client, as pure functions and classes: without I/O, and with times as arguments."""
