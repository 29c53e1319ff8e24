"""SVG chart of a reviewed match, with the engine's value for each ply and the values that both players reported."""

from __future__ import annotations

from collections.abc import Sequence

from arena.bots.review.review import ReviewedMove
from arena.bots.search.search_values import ESTIMATE_LIMIT
from arena.charts import TEXT_COLOUR, PlotArea, render_dot, render_svg_document, render_text_element

WIDTH, HEIGHT = 760, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 130, 48, 48
CURVE_COLOURS = {"engine": TEXT_COLOUR, "maxie": "#c2261d", "minnie": "#1452b8"}
MIN_VALUE_AXIS_LIMIT = 200
"""Minimum of the greatest value on the value axis, in hundredths of an army.

Without a minimum, the chart of an even match would show small changes of value as large ones.
"""


def render_values_chart(
    reviews: Sequence[ReviewedMove],
    title: str,
    player_names: tuple[str, str],
    engine_name: str,
    *,
    are_values_in_armies: bool = True,
) -> str:
    """Return the chart as an SVG document. Values are for Maxie; a certain win or loss is drawn at the end of the value axis.

    player_names          names of the bots in the seats of Maxie and Minnie
    engine_name           name of the engine that reviewed the match
    are_values_in_armies  True if a value of 100 is one army, as in Riskless

    Raises ValueError for a match without moves.
    """
    if not reviews:
        raise ValueError("nothing to draw: no move was played")
    lines: dict[str, list[tuple[int, float]]] = {
        "engine": [(review.ply, review.played_value) for review in reviews]
    }
    for player in ("maxie", "minnie"):
        lines[player] = [
            (review.ply, review.reported_value)
            for review in reviews
            if review.player == player and review.reported_value is not None
        ]
    estimates = [abs(y) for points in lines.values() for _, y in points if abs(y) <= ESTIMATE_LIMIT]
    max_value = max(MIN_VALUE_AXIS_LIMIT, *estimates) if estimates else MIN_VALUE_AXIS_LIMIT
    plies = max(1, len(reviews) - 1)
    area = PlotArea(LEFT, WIDTH - RIGHT, TOP, HEIGHT - BOTTOM, (0, plies), (-max_value, max_value))

    def clamp_to_axis(search_value: float) -> float:
        return max(-max_value, min(max_value, search_value))

    axis_labels = {value: f"{value / 100:+g}" for value in (max_value, 0, -max_value)}
    elements = [
        render_text_element(LEFT, 26, title, svg_attributes=' font-size="15"'),
        *area.render_value_axis(axis_labels, 8),
        *area.render_x_labels(sorted({0, plies // 2, plies}), 20),
    ]
    unit_text = "in armies" if are_values_in_armies else "in hundreds"
    legend = f"ply; values {unit_text}, high for maxie, a certain win on the edge; ?!, ?, ??: lost chances"
    elements.append(render_text_element(LEFT, HEIGHT - 10, legend))
    for name, points in lines.items():
        if points:
            elements.append(
                area.render_curve(
                    [(ply, clamp_to_axis(value)) for ply, value in points], CURVE_COLOURS[name], 1.6
                )
            )
    for review in reviews:
        if review.mark:
            x, y, colour = (
                area.to_svg_x(review.ply),
                area.to_svg_y(clamp_to_axis(review.played_value)),
                CURVE_COLOURS[review.player],
            )
            elements.append(
                render_dot(
                    x, y, 4, colour, f"ply {review.ply}: {review.move}, better {review.preferred_move}"
                )
            )
            elements.append(
                render_text_element(x, y - 8, review.mark, colour, "middle", ' font-weight="bold"')
            )
    for row, (name, label) in enumerate(zip(lines, (engine_name, *player_names), strict=True)):
        elements.append(
            render_text_element(WIDTH - RIGHT + 8, TOP + 14 + 18 * row, label[:18], CURVE_COLOURS[name])
        )
    return render_svg_document(WIDTH, HEIGHT, elements)
