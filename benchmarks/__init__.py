"""Benchmarks of the compiled engine and of the server. Each figure is a ratio measured in one run."""
