"""Parts that the benchmarks share: servers, load, ratios with their spread, tables and reports."""
