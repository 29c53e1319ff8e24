"""Benchmarks of the compiled engine and of the server. Both sides of each reported ratio are measured in one run."""
