"""What results say of strength: Elo, Glicko-2, SPRT, pairs and tables. Pure."""
