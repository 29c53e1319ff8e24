"""Tools for programs that learn: the rules as an environment, local matches, and records as a table."""
