"""Store of a server: schema, journal, and queries."""
