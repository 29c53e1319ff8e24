"""Decisions of the client, without I/O: functions and classes that get each time as an argument."""
