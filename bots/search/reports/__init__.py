"""Reports on a search: its trace, its tree, and its work compared with other searches."""
