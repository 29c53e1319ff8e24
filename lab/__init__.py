"""Tools for authors of bots and maps: tune weights, solve small maps, make openings, measure and draw maps."""
