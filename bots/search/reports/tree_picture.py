"""SVG drawing of a searched game tree.

Maxie's nodes point up, Minnie's down, leaves are squares. Visited nodes are black, with the result in blue and the search
window above; nodes that were not visited are grey and dashed, and two red strokes mark each cut. The line to be played is
thick. The legend lists only the elements that occur in the picture.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import Any

from arena.bots.search.monitor import TraceEvent
from arena.bots.search.move_values import MoveValue
from arena.bots.search.reports.traced_tree import TracedNode, build_traced_tree
from arena.bots.search.search_values import INFINITY, count_plies_to_end
from arena.charts import TEXT_COLOUR, render_line, render_svg_document, render_text_element
from arena.games.core import Game, Player

MAX_DRAWN_NODES = 600
"""Maximum number of nodes in the picture of a search tree; a larger tree is cut to its first plies."""
STEP_X, STEP_Y = 76, 96
MARGIN_X, MARGIN_TOP, MARGIN_BOTTOM = 48, 74, 76
GREY, BLUE, RED, GREEN = "#a3a3a3", "#1452b8", "#c2261d", "#0b7a3b"


def render_traced_search(
    game: Game[Any, Any],
    position: Any,
    depth: int,
    events: Iterable[TraceEvent],
    title: str,
    best_path: tuple[int, ...],
) -> str:
    """Return an SVG drawing of the tree that a traced search to `depth` plies visited from `position`.

    events     trace of the search
    best_path  path from the root, as indices in move order, of the moves that are drawn thick

    If the tree has more than MAX_DRAWN_NODES nodes, only its first plies are drawn, and the title says so.
    """
    tree, max_shown_ply = build_traced_tree(game, position, depth, events, MAX_DRAWN_NODES)
    if max_shown_ply is not None:
        title = f"{title} (drawn to depth {max_shown_ply}: at most {MAX_DRAWN_NODES} nodes fit)"
    columns_and_rows: dict[tuple[int, ...], tuple[float, float]] = {}
    columns = _place_nodes(tree, 0, columns_and_rows)
    rows_below_root = max(len(path) for path in columns_and_rows)
    width = max(560, 2 * MARGIN_X + (columns - 1) * STEP_X)
    height = MARGIN_TOP + rows_below_root * STEP_Y + MARGIN_BOTTOM
    shift = (width - (columns - 1) * STEP_X) / 2
    points = {
        path: (shift + x * STEP_X, MARGIN_TOP + y * STEP_Y) for path, (x, y) in columns_and_rows.items()
    }
    heading = render_text_element(width / 2, 22, title, anchor="middle", svg_attributes=' font-size="15"')
    elements = [heading, *_draw_edges(tree, points, best_path), *_draw_nodes(tree, points)]
    return render_svg_document(
        width, height, [*elements, *_draw_legend(width, height, tree, has_best_line=bool(best_path))]
    )


def _place_nodes(
    node: TracedNode, first_free_column: int, columns_and_rows: dict[tuple[int, ...], tuple[float, float]]
) -> int:
    """Write the column and row of `node` and of each descendant into `columns_and_rows`, by path from the root.

    Return the first column to the right of all of them.
    """
    if not node.children:
        columns_and_rows[node.path] = (first_free_column, len(node.path))
        return first_free_column + 1
    for child in node.children:
        first_free_column = _place_nodes(child, first_free_column, columns_and_rows)
    child_columns = [columns_and_rows[node.children[0].path][0], columns_and_rows[node.children[-1].path][0]]
    columns_and_rows[node.path] = (sum(child_columns) / 2, len(node.path))
    return first_free_column


def _walk_nodes(node: TracedNode) -> Iterator[TracedNode]:
    yield node
    for child in node.children:
        yield from _walk_nodes(child)


PointsByPath = dict[tuple[int, ...], tuple[float, float]]
"""Coordinates (x, y) of each node in the drawing, by the node's path from the root."""


def _draw_edges(tree: TracedNode, points: PointsByPath, best_path: tuple[int, ...]) -> Iterator[str]:
    for node in _walk_nodes(tree):
        x, y = points[node.path]
        for child in node.children:
            to_x, to_y = points[child.path]
            is_on_line = child.path == best_path[: len(child.path)]
            ends = (x, y + 15, to_x, to_y - 15)
            if child.is_visited:
                yield render_line(*ends, TEXT_COLOUR, 3.5 if is_on_line else 1.2)
            else:
                yield render_line(*ends, GREY, 1.2, ' stroke-dasharray="4 4"')
        if node.is_cut:
            skipped = [points[child.path] for child in node.children if not child.is_visited]
            yield from _draw_cutoff_strokes(x, y + 15, *skipped[0])


def _draw_cutoff_strokes(x: float, y: float, to_x: float, to_y: float) -> Iterator[str]:
    """Yield two strokes across the line from (x, y) down to (to_x, to_y), near its upper end: the sign of a cutoff."""
    dx, dy = to_x - x, to_y - 15 - y
    length = (dx * dx + dy * dy) ** 0.5
    for share in (0.26, 0.34):
        mid_x, mid_y = x + share * dx, y + share * dy
        off_x, off_y = -dy / length * 8, dx / length * 8
        yield render_line(mid_x - off_x, mid_y - off_y, mid_x + off_x, mid_y + off_y, RED, 2.2)


def _draw_nodes(tree: TracedNode, points: PointsByPath) -> Iterator[str]:
    for node in _walk_nodes(tree):
        x, y = points[node.path]
        line_colour = TEXT_COLOUR if node.is_visited else GREY
        fill = "#eef3fb" if node.is_visited else "white"
        dash_attribute = "" if node.is_visited else ' stroke-dasharray="4 3"'
        yield f"<g><title>{escape(_make_tooltip(node))}</title>{_render_node_shape(node, x, y, fill, line_colour, dash_attribute)}"
        name = node.label if len(node.label) <= 3 else node.move if len(node.move) <= 5 else ""
        name_offset = 0 if node.is_leaf else 4 if node.player is Player.MAXIE else -4
        if name:
            yield render_text_element(x, y + 4 + name_offset, name, line_colour, "middle", ' font-size="11"')
        if node.result is not None:
            colour = BLUE if node.is_visited else GREY
            label_y = y + 30
            font_weight = ' font-weight="bold"' if node.is_visited else ""
            # The value of an inner node stands beside the node, because the lines to its children start below it.
            if node.is_leaf:
                yield _render_outlined_text(
                    x, label_y, format_value_label(node.result.value), colour, font_weight
                )
            else:
                yield _render_outlined_text(
                    x + 19, y + 5, format_value_label(node.result.value), colour, font_weight, "start"
                )
        for number, (alpha, beta) in enumerate(reversed(node.windows[-2:])):
            yield from _draw_window_label(x, y - 21 - 11 * number, _format_window(alpha, beta))
        yield "</g>"


def _render_node_shape(
    node: TracedNode, x: float, y: float, fill: str, line_colour: str, dash_attribute: str
) -> str:
    attributes = f'fill="{fill}" stroke="{line_colour}" stroke-width="1.4"{dash_attribute}'
    if node.is_leaf:
        return f'<rect x="{x - 14:.1f}" y="{y - 14:.1f}" width="28" height="28" {attributes}/>'
    tip, base = (y - 16, y + 14) if node.player is Player.MAXIE else (y + 16, y - 14)
    return (
        f'<polygon points="{x:.1f},{tip:.1f} {x + 19:.1f},{base:.1f} {x - 19:.1f},{base:.1f}" {attributes}/>'
    )


def _render_outlined_text(
    x: float, y: float, text: str, colour: str, attributes: str = "", anchor: str = "middle"
) -> str:
    """Return an SVG text with a white border, so that it is legible where lines between nodes pass behind it."""
    halo = ' stroke="white" stroke-width="3.5" stroke-linejoin="round" paint-order="stroke"'
    return render_text_element(x, y, text, colour, anchor, halo + attributes)


def _draw_window_label(x: float, y: float, text: str) -> Iterator[str]:
    """Yield the text of a search window on a white background, because the line to the node's parent passes behind it."""
    width = 5.6 * len(text) + 4
    yield f'<rect x="{x - width / 2:.1f}" y="{y - 9:.1f}" width="{width:.1f}" height="11" fill="white"/>'
    yield _render_outlined_text(x, y, text, GREEN, ' font-size="10"')


def format_value_label(value: int) -> str:
    """Return a value for Maxie as a label: a number, `∞` or `−∞`, or for a sure win `Maxie in 3` (plies from the root)."""
    if abs(value) >= INFINITY:
        return "∞" if value > 0 else "−∞"
    plies = count_plies_to_end(value)
    if plies is not None:
        return f"{'Maxie' if value > 0 else 'Minnie'} in {plies}"
    return str(value).replace("-", "−")


def _format_window(alpha: MoveValue, beta: MoveValue) -> str:
    return f"{format_value_label(alpha.value)} … {format_value_label(beta.value)}"


def _make_tooltip(node: TracedNode) -> str:
    lines = [f"{node.label}, {node.player}"]
    lines += [f"window {_format_window(*window)}" for window in node.windows]
    if node.result is not None and node.is_visited:
        lines.append(f"result {format_value_label(node.result.value)}")
    if not node.is_visited:
        lines.append("not visited")
    return "\n".join(lines)


def _draw_legend(width: float, height: float, tree: TracedNode, *, has_best_line: bool) -> Iterator[str]:
    y = height - 14
    nodes = list(_walk_nodes(tree))
    entries = [
        ("α … β: the window", GREEN, 110, any(node.windows for node in nodes)),
        ("result", BLUE, 40, True),
        ("thick: to be played", TEXT_COLOUR, 112, has_best_line),
        ("// cut", RED, 36, any(node.is_cut for node in nodes)),
        ("not visited", GREY, 64, any(not node.is_visited for node in nodes)),
    ]
    shown_entries = [(words, colour, size) for words, colour, size, is_needed in entries if is_needed]
    gap = 26
    x = width / 2 - (sum(size for *_, size in shown_entries) + gap * (len(shown_entries) - 1)) / 2
    for words, colour, size in shown_entries:
        yield _render_outlined_text(x, y, words, colour, anchor="start")
        x += size + gap
