"""Learning of weights for compiled evaluators: self-play, fits to results, and climbs towards wins."""
