"""Reports on a search: its trace as text, a picture of the searched tree, and a chart of the leaves of several searches."""
