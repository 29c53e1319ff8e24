"""Store of a server: the database with matches, ratings, events and tokens, and all code that reads or writes it."""
