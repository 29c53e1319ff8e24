"""Analysis of finished matches by an engine."""
