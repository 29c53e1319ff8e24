"""Responses to HTTP requests for the web page, its data and its files. A child process of the server makes most responses."""
