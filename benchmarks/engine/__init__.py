"""The compiled engine against its peers, by its parts, and by matches: `python -m benchmarks NAME`."""
