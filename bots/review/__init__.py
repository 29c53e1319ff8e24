"""Analysis of positions and reviews of finished matches, by engines, algorithms and tablebases."""
