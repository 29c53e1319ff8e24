"""Shared parts of the benchmarks: servers and load, ratios with their spread, tables, plots, and reports."""
