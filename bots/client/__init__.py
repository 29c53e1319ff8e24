"""Client that connects a bot to a server, and matches that are played without a server."""
