"""Tools for authors of bots and maps: they tune weights, solve small maps, make openings, and measure maps."""
