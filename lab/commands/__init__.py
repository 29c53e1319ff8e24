"""Commands for authors of bots and maps: `arena maps`, `arena openings make`, `arena solve` and `arena tune`."""
