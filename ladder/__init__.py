"""Ladders and matches of bots on one machine or a cluster: plans, openings, runners and reports."""
