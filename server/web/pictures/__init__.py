"""Preview pictures of matches, maps, bots and events: PNG, and GIF for whole matches.

texts and records -> cards (SVG) -> drawing (PNG, GIF)
"""
