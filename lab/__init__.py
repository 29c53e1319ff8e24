"""Tools for authors of bots and maps: tuning of weights, solving of small maps, making of openings, measuring of maps."""
