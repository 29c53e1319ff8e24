"""Preview pictures of matches, maps, bots and events: PNG, and GIF for whole matches.

The module `cards` makes SVG from texts and records. The module `drawing` makes PNG and GIF from the SVG.
"""

from __future__ import annotations

from typing import NamedTuple

PREVIEW_WIDTH, PREVIEW_HEIGHT = 1200, 630
"""Size of a preview picture, in pixels, as recommended for link previews (https://ogp.me)."""
FILM_WIDTH, FILM_HEIGHT = 600, 450
"""Size of a film (animated picture of a match), in pixels."""


class TableCardRow(NamedTuple):
    """Row of a table in a picture: the ratings of a bot, or the standings of a tournament."""

    name: str
    number_text: str
    """Number of the row, such as a rating, as the picture shows it."""
    relative_bar_length: float
    """Length of the bar beside the name, from 0 to 1 (the full length)."""
