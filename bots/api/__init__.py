"""Programming interface for bot authors."""
