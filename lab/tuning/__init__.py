"""Learning of an evaluator's weights: self-play, fits to the results, and hill climbing by matches."""
