"""One file a version of the schema; the name begins with it."""
