"""Riskless maps: TOML files, the loader that checks them, generators, and pictures."""
