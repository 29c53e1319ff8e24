"""How fast and how strong the compiled engine is, each figure as a ratio measured in one run."""
