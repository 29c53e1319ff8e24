"""Built-in engines, and engines from files, selected by their specs."""
