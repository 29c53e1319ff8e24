"""Measurements, each a ratio against a named peer or limit in one run."""
