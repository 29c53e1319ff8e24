"""Riskless maps: TOML files, their loader, generators, and pictures."""
