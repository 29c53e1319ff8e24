"""Decisions of the client, without I/O. Pure."""
