"""Journal of a server: it writes each event of a match to the database before any client is notified of the event."""
