"""Shared parts of tests and benchmarks: programs that play, disturb and kill, and checks of the machine's tools."""
