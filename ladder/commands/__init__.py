"""Commands for ladders, matches of two bots, and submitted bots."""
