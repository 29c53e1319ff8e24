"""Reports of an event: table, progress, and page."""
