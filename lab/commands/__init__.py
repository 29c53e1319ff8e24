"""The commands `arena maps`, `arena openings`, `arena solve` and `arena tune`."""
