"""The commands `arena maps`, `arena openings make`, `arena solve` and `arena tune`."""
