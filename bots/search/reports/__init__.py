"""Reports on a search: the trace, the searched tree, and the number of leaves compared with other searches."""
