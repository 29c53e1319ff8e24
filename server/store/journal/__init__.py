"""Journal of a server, which writes each event of a match to the database before any client is notified of it."""
