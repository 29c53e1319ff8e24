"""Which matches are played: challenges, the pool, and who has to wait."""
