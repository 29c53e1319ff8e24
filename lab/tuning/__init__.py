"""Learning of an evaluator's weights: self-play, fits to its results and deeper searches, and hill climbing by matches."""
