"""Learning of an evaluator's weights: by a fit to the positions of self-play matches, and by hill climbing."""
