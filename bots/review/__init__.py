"""Finished matches looked at again, by an engine."""
