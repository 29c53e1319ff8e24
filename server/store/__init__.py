"""What a server keeps: the schema, the journal, and the queries."""
