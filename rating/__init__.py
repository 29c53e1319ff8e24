"""Ratings of bots (Elo, Glicko-2), tests of strength (SPRT), and pairings and tables of events.

All modules are pure: they do no I/O, read no clock, and use no random numbers.
"""
