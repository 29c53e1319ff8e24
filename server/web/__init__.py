"""Answers to plain HTTP requests: the page, its data and its files, mostly made in a separate page process."""
