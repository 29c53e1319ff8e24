"""Responses to HTTP requests for the web page, its data and its files. A child process makes most of them."""
