"""Bots: the client SDK, the search algorithms, the compiled engine, and the built-in engines."""
