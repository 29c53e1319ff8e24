"""Finished matches found by what somebody remembers of them."""
