"""Store of a server: the database schema, the journal, and all queries."""
