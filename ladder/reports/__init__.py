"""Reports of an event: the table, the progress display, and the HTML report."""
