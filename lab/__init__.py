"""Tools for authors of bots and maps, which tune an engine's weights, solve small maps, make openings, and measure maps."""
