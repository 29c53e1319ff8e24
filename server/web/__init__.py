"""Answers to plain HTTP requests: the web page, its data and its files. A separate page process makes most of them."""
