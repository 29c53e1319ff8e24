"""Decisions of the client, without I/O. The functions and classes read no clock: the caller passes the current time."""
