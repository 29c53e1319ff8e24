"""The answers to plain GETs: the page, its questions and its files."""
