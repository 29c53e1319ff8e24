"""What is kept of many matches, counted match by match as they come in: ratings, and the tables of games and events."""
