"""Plots of a ladder's report, as SVG that scales to a phone's width, with ticks, units and a colour per bot."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from arena.charts import GRID_COLOUR, TEXT_COLOUR, PlotArea, render_dot, render_line, render_text_element
from arena.rating.standings import StandingsRow

PLOT_WIDTH, PLOT_LEFT_MARGIN, PLOT_RIGHT_MARGIN = 360, 46, 20
"""Width of a plot, and its left and right margin, in SVG units.

Letters are 12 units high. 360 units are the width of a phone, without scaling.
"""
PLOT_AREA_HEIGHT_PX = 150
"""Height of the plotting area of a plot by ply, in SVG units."""

MAX_SHOWN_BOT_NAME_LENGTH = 24
"""Maximum number of characters of a bot's name in a plot."""
HUE_STEP_DEGREES = 137.508
"""Difference in hue between consecutive bots, in degrees: the golden angle, which keeps their colours distinct."""


def assign_bot_colours(bots: Sequence[str]) -> dict[str, str]:
    """Return the CSS colour of each bot by name, the same everywhere in the report."""
    return {bot: f"hsl({round(215 + HUE_STEP_DEGREES * n) % 360} 65% 38%)" for n, bot in enumerate(bots)}


def render_colour_swatch(colour: str) -> str:
    """Return the HTML of a small square in a bot's colour, to place before the bot's name."""
    return f'<i class="swatch" style="background:{colour}"></i>'


def choose_axis_ticks(low: float, high: float, max_steps: int = 5) -> list[float]:
    """Return at most `max_steps` + 1 round numbers that cover `low` to `high`.

    The numbers are in equal steps of 1, 2 or 5 times a power of ten.
    """
    span = max(high - low, 1e-9)
    step = 10.0 ** math.floor(math.log10(span / max_steps))
    step = next(
        step * multiple
        for multiple in (1, 2, 5, 10, 20, 50)
        if _count_axis_steps(low, high, step * multiple) <= max_steps
    )
    first = math.floor(low / step)
    return [step * n for n in range(first, first + _count_axis_steps(low, high, step) + 1)]


def _count_axis_steps(low: float, high: float, step: float) -> int:
    return math.ceil(high / step) - math.floor(low / step)


def _render_plot(height: float, label: str, svg_elements: Sequence[str]) -> str:
    return f'<svg viewBox="0 0 {PLOT_WIDTH} {height:.0f}" role="img" aria-label="{escape(label)}">{"".join(svg_elements)}</svg>'


def render_ratings_plot(rows: Sequence[StandingsRow], colour_by_bot: Mapping[str, str]) -> str:
    """Return an SVG plot of each bot's rating as a dot on its 95 % interval, with an axis in Elo; empty without matches.

    colour_by_bot  colour of each bot, from `assign_bot_colours`
    """
    rated = [row for row in rows if row.games]
    if not rated:
        return ""
    ticks = choose_axis_ticks(
        min(row.elo - row.elo_error for row in rated), max(row.elo + row.elo_error for row in rated)
    )
    bottom = 34 * len(rated) + 6
    area = PlotArea(
        PLOT_LEFT_MARGIN, PLOT_WIDTH - PLOT_RIGHT_MARGIN, 0, bottom, (ticks[0], ticks[-1]), (0, 1)
    )
    elements = [
        render_line(area.to_svg_x(tick), 0, area.to_svg_x(tick), bottom, GRID_COLOUR) for tick in ticks
    ]
    elements += [
        render_text_element(area.to_svg_x(tick), bottom + 15, f"{tick:+z.0f}", anchor="middle")
        for tick in ticks
    ]
    for index, row in enumerate(rated):
        y, bot_colour = 34 * index + 24, colour_by_bot[row.bot]
        elements += [
            render_text_element(2, y - 10, row.bot[:MAX_SHOWN_BOT_NAME_LENGTH]),
            render_line(
                area.to_svg_x(row.elo - row.elo_error),
                y,
                area.to_svg_x(row.elo + row.elo_error),
                y,
                bot_colour,
                3,
            ),
            render_dot(area.to_svg_x(row.elo), y, 5, bot_colour),
        ]
    elements.append(
        render_text_element(
            PLOT_WIDTH - PLOT_RIGHT_MARGIN,
            bottom + 32,
            "Elo, relative to the average of the bots",
            anchor="end",
        )
    )
    return _render_plot(bottom + 38, "The rating of each bot with its 95 % interval, in Elo", elements)


def render_plot_by_ply(
    title: str, unit: str, curves: Mapping[str, Mapping[int, float]], colour_by_bot: Mapping[str, str]
) -> str:
    """Return an SVG plot, with its HTML title and legend, of one curve per bot over the plies of a match; empty without curves.

    title          title, such as "Mean time per move"
    unit           unit of the values, shown on the axis
    curves         value at each ply, by bot
    colour_by_bot  colour of each bot, from `assign_bot_colours`
    """
    if not curves:
        return ""
    value_ticks = choose_axis_ticks(0, max(max(by_ply.values()) for by_ply in curves.values()) or 1)
    ply_ticks = choose_axis_ticks(0, max(max(by_ply) for by_ply in curves.values()) or 1)
    top, bottom = 22, 22 + PLOT_AREA_HEIGHT_PX
    area = PlotArea(
        PLOT_LEFT_MARGIN,
        PLOT_WIDTH - PLOT_RIGHT_MARGIN,
        top,
        bottom,
        (0, ply_ticks[-1]),
        (0, value_ticks[-1]),
    )
    elements = [
        *area.render_value_axis({tick: f"{tick:g}" for tick in value_ticks}, 5),
        *area.render_x_labels(ply_ticks, 16),
        render_line(PLOT_LEFT_MARGIN, top, PLOT_LEFT_MARGIN, bottom, TEXT_COLOUR),
        render_line(PLOT_LEFT_MARGIN, bottom, area.right, bottom, TEXT_COLOUR),
        render_text_element(2, 12, unit),
        render_text_element(area.right, bottom + 32, "ply", anchor="end"),
    ]
    for bot in (bot for bot in colour_by_bot if bot in curves):
        points = sorted(curves[bot].items())
        elements.append(area.render_curve(points, colour_by_bot[bot], 2, ' stroke-linejoin="round"', bot))
    legend = "".join(
        f"<li>{render_colour_swatch(colour_by_bot[bot])}{escape(bot)}</li>"
        for bot in colour_by_bot
        if bot in curves
    )
    return (
        f"<h3>{escape(title)}</h3>{_render_plot(bottom + 38, f'{title} by ply, in {unit}', elements)}"
        f'<ul class="legend">{legend}</ul>'
    )
