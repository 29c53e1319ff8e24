"""Pictures of matches, maps, bots and events, which a link shows where it is shared: PNG, and GIF of a whole match.

words and records -> cards (SVG) -> drawing (PNG, GIF), in a process of its own -> previews (asked for, kept)
"""
