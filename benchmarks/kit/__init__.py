"""What benchmarks share: servers and load, ratios with their spread, tables, plots, and the reports that they are written into."""
