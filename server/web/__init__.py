"""Responses to HTTP requests for the web page, its data and its files. A separate page process makes most of them."""
