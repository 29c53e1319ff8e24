"""Tools that tune an engine's weights, solve small maps, make openings, and measure maps; for authors of bots and maps."""
