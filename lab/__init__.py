"""Tools for authors of bots and maps: tuning weights, solving small maps, making openings, measuring and drawing maps."""
