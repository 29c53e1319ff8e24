"""Playing strength from results: Elo, Glicko-2, SPRT, pairs and tables. Pure."""
