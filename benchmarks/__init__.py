"""Benchmarks of the compiled engine and of the server. One run measures both terms of each reported ratio."""
