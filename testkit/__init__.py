"""Shared parts of tests and benchmarks: programs that play, disturb and kill, and a list of required tools."""
