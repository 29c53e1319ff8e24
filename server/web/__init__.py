"""Answers to plain HTTP requests: the page, its data and its files."""
