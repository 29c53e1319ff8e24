"""Tools for programs that learn: the rules of a game as an environment, local matches, and match records as a table."""
