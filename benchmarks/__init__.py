"""Benchmarks of the compiled engine and of the server. A reported ratio always compares measurements of the same run."""
