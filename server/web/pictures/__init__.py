"""Preview pictures of matches, maps, bots and events: PNG, and GIF for whole matches.

The module `cards` makes SVG from texts and records. The module `drawing` makes PNG and GIF from the SVG.
"""

PREVIEW_WIDTH, PREVIEW_HEIGHT = 1200, 630
"""Size of a preview picture, in pixels, as recommended for link previews (https://ogp.me)."""
FILM_WIDTH, FILM_HEIGHT = 600, 450
"""Size of a film (animated picture of a match), in pixels."""
