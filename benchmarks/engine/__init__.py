"""Benchmarks of the compiled engine: of its components (`python -m benchmarks NAME`), and of its strength in matches."""
