"""Reports of a ladder: the table of results, the progress display, and the HTML report."""
