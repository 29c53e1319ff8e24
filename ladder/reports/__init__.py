"""What people are shown of an event: the table, its progress, and a page."""
