"""Learning the weights of compiled evaluators: matches of searchers, fits to what they end with, and climbs by what wins."""
