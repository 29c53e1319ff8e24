"""Playing strength from match results: Elo, Glicko-2, SPRT, pairings and tables. Pure."""
