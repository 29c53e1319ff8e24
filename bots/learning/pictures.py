"""Positions, matches and searched trees as pictures, which Jupyter notebooks display automatically."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from arena.bots.review.analysis import find_path_of_line, parse_reference_spec, run_reference_search
from arena.bots.search.reports.trace_text import format_trace_lines
from arena.bots.search.reports.tree_picture import render_traced_search
from arena.charts import PlotArea, render_svg_document, render_text_element
from arena.games.core import Game
from arena.games.riskless import Riskless
from arena.maps.loader import load_annotated_map
from arena.maps.svg import render_map_svg
from arena.match.replay import Replay, summarize_record

LINE_HEIGHT, LETTER_WIDTH, MARGIN = 18, 8.5, 10
"""Height of a line, width of a letter, and space around the text, in a picture that consists of text, in pixels."""
WIDTH, HEIGHT = 760, 320
"""Size of the chart of a match, in pixels."""
LEFT, RIGHT, TOP, BOTTOM = 60, 30, 48, 48
"""Widths of the margins around the chart of a match, in pixels."""
LEAD_CURVE_COLOUR = "#1452b8"
"""Colour of the curve of estimates in the chart of a match."""


@dataclass(frozen=True)
class Picture:
    """Picture that a Jupyter notebook shows as a drawing, and `print` as text."""

    text: str
    render_svg: Callable[[], str]
    """Function that returns the drawing as an SVG document."""

    def __str__(self) -> str:
        return self.text

    def _repr_svg_(self) -> str:
        return self.render_svg()


def make_position_picture(game: Game[Any, Any], position: Any) -> Picture:
    """Return a picture of a position: the map for Riskless, and the output of `Game.picture` for other games.

    Drawing the picture loads the map of Riskless by its name, and raises MapError if there is no such map.
    """
    text = game.picture(position)
    if isinstance(game, Riskless):
        return Picture(text, lambda: render_map_svg(load_annotated_map(game.map.name), position.armies))
    return Picture(text, lambda: _render_text_lines(text.splitlines()))


def make_match_picture(replay: Replay) -> Picture:
    """Return a chart of the game's estimate of each position of a match.

    The text form of the picture has one line for each move.
    """
    text = "\n".join(replay.describe_move(ply) for ply in range(replay.ply_count + 1))
    return Picture(text, lambda: _render_match_page(replay))


def make_search_picture(game: Game[Any, Any], position: Any, algorithm: str, depth: int) -> Picture:
    """Return a picture of the tree that an algorithm of `bots.search` visits from a position, as drawn by `arena trace --svg`.

    The text form of the picture is the output of `arena trace`. A large tree is drawn only to the depth that its title states.

    Raises BadSpec for an unknown algorithm, and TracedSearchTooLarge if the search visits too many nodes for a trace.
    """
    spec = parse_reference_spec(algorithm)
    result, monitor = run_reference_search(game, position, depth, spec, tracing=True)
    events = monitor.events or ()
    title = f"{spec.name}, depth {depth}: {monitor.nodes} nodes, {monitor.leaves} leaves"
    line = find_path_of_line(game, position, result.line)
    return Picture(
        "\n".join(format_trace_lines(game, events)),
        lambda: render_traced_search(game, position, depth, events, title, line),
    )


def _render_text_lines(lines: list[str]) -> str:
    width = 2 * MARGIN + LETTER_WIDTH * max(map(len, lines), default=0)
    height = 2 * MARGIN + LINE_HEIGHT * len(lines)
    style = ' style="font: 14px monospace; white-space: pre"'
    texts = [
        render_text_element(MARGIN, MARGIN + LINE_HEIGHT * (number + 0.75), line, svg_attributes=style)
        for number, line in enumerate(lines)
    ]
    return render_svg_document(width, height, texts)


def _render_match_page(replay: Replay) -> str:
    leads = [replay.game.estimate(position) for position in replay.positions]
    max_lead, plies = max(1, *map(abs, leads)), replay.ply_count
    area = PlotArea(LEFT, WIDTH - RIGHT, TOP, HEIGHT - BOTTOM, (0, plies), (-max_lead, max_lead))
    axis_labels: dict[float, str] = {lead: f"{lead:+d}" for lead in (max_lead, 0, -max_lead)}
    return render_svg_document(
        WIDTH,
        HEIGHT,
        [
            render_text_element(LEFT, 26, summarize_record(replay.record)),
            *area.render_value_axis(axis_labels, 8),
            *area.render_x_labels(sorted({0, plies // 2, plies}), 20),
            render_text_element(LEFT, HEIGHT - 10, "ply; the estimate of the game, high for maxie"),
            area.render_curve(enumerate(leads), LEAD_CURVE_COLOUR, 2),
        ],
    )
