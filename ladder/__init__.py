"""Ladders: events that start bots, or wait for them, and play many matches on one machine or a cluster."""
