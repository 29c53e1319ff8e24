"""Benchmarks of the compiled engine, by component and by matches: `python -m benchmarks NAME`."""
