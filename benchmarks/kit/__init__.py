"""Shared parts of the benchmarks: servers, load, ratios with their spread, tables and reports."""
