"""Draws the house as an SVG: folders as boxes on floors, and an arrow from each to those that it imports.

All arrows to one folder have its colour and share one line. Between neighbouring floors an arrow goes straight;
past a floor it goes through a lane beside the boxes, so that no arrow crosses a box.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from tests.architecture.house import Building, Folder

WIDTH = 1000
LANE = 9
"""Pixels from one lane to the next."""
MARGIN = 16
GAP = 44
"""Pixels between two floors of the house."""
INNER_GAP = 26
"""Pixels between two floors within a folder."""
NARROW = 190
"""Pixels below which a box has no room for a sentence."""
LETTER = 6.6
"""Pixels of a letter of small print, on the average of the fonts that browsers have."""
LINE = 15
"""Pixels from one line of small print to the next."""
HEAD = 84
"""Pixels for the title of a folder with floors of its own."""
HUES = (212, 18, 140, 282, 46, 330, 178, 96, 250, 0)

STYLE = """
svg{--back:#fff;--box:#f4f6f9;--inner:#fff;--edge:#b8c2ce;--text:#1d2530;--quiet:#5d6a78;--light:38%;background:var(--back)}
@media(prefers-color-scheme:dark){svg{--back:#12161c;--box:#1a2028;--inner:#232b35;--edge:#465262;--text:#e6ebf1;--quiet:#9aa7b6;--light:66%}}
text{font-family:system-ui,sans-serif;fill:var(--text)}
.back{fill:var(--back)}.box{fill:var(--box);stroke:var(--edge)}.inner{fill:var(--inner);stroke:var(--edge)}
.name{font-size:15px;font-weight:600}.small{font-size:12px;fill:var(--quiet)}.title{font-size:20px;font-weight:600}
.line{fill:none;stroke-width:1.6}.against{fill:none;stroke:#e02020;stroke-width:2.5;stroke-dasharray:5 4}
"""


@dataclass(frozen=True)
class Box:
    """A rectangle in pixels."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        """The x of its centre."""
        return self.x + self.width / 2

    @property
    def bottom(self) -> float:
        """The y of its lower edge."""
        return self.y + self.height

    @property
    def right(self) -> float:
        """The x of its right edge."""
        return self.x + self.width


@dataclass
class Drawing:
    """What is drawn so far, from back to front."""

    lines: list[str] = field(default_factory=list)
    boxes: list[str] = field(default_factory=list)

    def text(self, x: float, y: float, kind: str, words: str, anchor: str = "start") -> None:
        """Write a line of text."""
        self.boxes.append(
            f'<text x="{x:g}" y="{y:g}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>'
        )

    def box(self, box: Box, kind: str) -> None:
        """Draw a rectangle."""
        self.boxes.append(
            f'<rect x="{box.x:g}" y="{box.y:g}" width="{box.width:g}" height="{box.height:g}" rx="7" class="{kind}"/>'
        )

    def arrow(self, points: Sequence[tuple[float, float]], colour: int) -> None:
        """Draw an arrow through the points, with rounded corners."""
        path = [f"M{points[0][0]:g} {points[0][1]:g}"]
        for before, here, after in zip(points, points[1:], points[2:], strict=False):
            path.append(
                "L{:g} {:g}Q{:g} {:g} {:g} {:g}".format(
                    *_towards(here, before), *here, *_towards(here, after)
                )
            )
        path.append(f"L{points[-1][0]:g} {points[-1][1]:g}")
        self.lines.append(
            f'<path d="{"".join(path)}" class="line c{colour}" marker-end="url(#head{colour})"/>'
        )

    def against(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Draw an import that goes against the contract."""
        self.boxes.append(f'<path d="M{start[0]:g} {start[1]:g}L{end[0]:g} {end[1]:g}" class="against"/>')


def _towards(here: tuple[float, float], there: tuple[float, float]) -> tuple[float, float]:
    """A point on the way from one point to another, a corner's radius from the first."""
    dx, dy = there[0] - here[0], there[1] - here[1]
    part = min(0.5, 6 / (abs(dx) + abs(dy) or 1))
    return here[0] + dx * part, here[1] + dy * part


@dataclass(frozen=True)
class Layout:
    """Where the folders of a building stand, and in which lane the arrows to each of them go."""

    building: Building
    boxes: Mapping[str, Box]
    lanes: Mapping[str, float]
    """The x of a folder's lane, for the folders that are imported from past a floor."""


def sides(building: Building) -> tuple[list[str], list[str]]:
    """The folders that need a lane, on the left and on the right, the outermost lane first."""
    left: list[str] = []
    right: list[str] = []
    for floor in building.floors:
        for place, folder in enumerate(floor):
            if not any(
                _far(building, source, folder.name)
                for source, target in building.arrows
                if target == folder.name
            ):
                continue
            if len(floor) > 1:
                (left if place < len(floor) / 2 else right).append(folder.name)
            else:
                (left if len(left) <= len(right) else right).append(folder.name)
    # What is further down has the outer lanes, so that lanes cross as little as they can.
    return left[::-1], right[::-1]


def _far(building: Building, source: str, target: str) -> bool:
    return building.floor_of(target) - building.floor_of(source) > 1


def draw_arrows(drawing: Drawing, layout: Layout) -> None:
    """Draw all imports of a building."""
    building, boxes = layout.building, layout.boxes
    names = [folder.name for floor in building.floors for folder in floor]
    for colour, target in enumerate(names):
        sources = sorted(source for source, imported in building.arrows if imported == target)
        far = [source for source in sources if _far(building, source, target)]
        for source in sources:
            step = building.floor_of(target) - building.floor_of(source)
            if step <= 0:
                drawing.against(
                    (boxes[source].middle, boxes[source].y), (boxes[target].middle, boxes[target].bottom)
                )
            elif step == 1:
                _near_arrow(drawing, layout, source, target, colour % len(HUES))
        for source in far:
            _far_arrow(drawing, layout, source, target, colour % len(HUES))


def _near_arrow(drawing: Drawing, layout: Layout, source: str, target: str, colour: int) -> None:
    boxes = layout.boxes
    sources = _neighbours(layout, target, above=True)
    targets = _neighbours(layout, source, above=False)
    x1 = _port(boxes[source], targets.index(target), len(targets))
    x2 = _port(boxes[target], sources.index(source), len(sources))
    low = max(boxes[source].x, boxes[target].x)
    high = min(boxes[source].right, boxes[target].right)
    if len(sources) == len(targets) == 1 and low < high:
        x1 = x2 = (low + high) / 2
    top, bottom = boxes[source].bottom, boxes[target].y
    # A height of its own for each, so that two of them never lie on each other.
    turn = top + (bottom - top) * (0.2 + 0.5 * (targets.index(target) + 1) / (len(targets) + 1))
    points = (
        [(x1, top), (x1, turn), (x2, turn), (x2, bottom - 1)] if x1 != x2 else [(x1, top), (x2, bottom - 1)]
    )
    drawing.arrow(points, colour)


def _neighbours(layout: Layout, name: str, *, above: bool) -> list[str]:
    """The folders on the next floor that import a folder (above), or that it imports, from left to right."""
    building = layout.building
    pairs = [(target, source) if above else (source, target) for source, target in building.arrows]
    step = -1 if above else 1
    found = [
        other
        for here, other in pairs
        if here == name and building.floor_of(other) == building.floor_of(name) + step
    ]
    return sorted(found, key=lambda other: layout.boxes[other].x)


def _port(box: Box, index: int, count: int) -> float:
    """The x at which the arrow of this number leaves or enters a box."""
    return box.x + box.width * (index + 1) / (count + 1)


def _far_arrow(drawing: Drawing, layout: Layout, source: str, target: str, colour: int) -> None:
    """From a box to its target's lane, down the lane, and in."""
    on_left = layout.lanes[target] < min(box.x for box in layout.boxes.values())
    points = [*_out(layout, source, target, on_left=on_left), *_in(layout, target, on_left=on_left)]
    drawing.arrow(points, colour)


def _share(layout: Layout, target: str) -> float:
    """A place between 0 and 1 that is the target's own among all that have lanes."""
    return (sorted(layout.lanes, key=lambda name: layout.lanes[name]).index(target) + 1) / (
        len(layout.lanes) + 1
    )


def _out(layout: Layout, source: str, target: str, *, on_left: bool) -> list[tuple[float, float]]:
    """The way from a box to a lane: from its side where it is the outermost of its floor, else below it."""
    box, lane = layout.boxes[source], layout.lanes[target]
    floor = layout.building.floors[layout.building.floor_of(source)]
    share = _share(layout, target)
    if source == floor[0 if on_left else -1].name:
        y = box.y + box.height * (0.12 + 0.76 * share)
        return [(box.x if on_left else box.right, y), (lane, y)]
    y = box.bottom + 5 + 12 * share
    x = box.x + box.width * (0.06 + 0.2 * share) if on_left else box.right - box.width * (0.06 + 0.2 * share)
    return [(x, box.bottom), (x, y), (lane, y)]


def _in(layout: Layout, target: str, *, on_left: bool) -> list[tuple[float, float]]:
    """The way from a folder's lane into its box: to its side where it is the outermost, else from above."""
    box, lane = layout.boxes[target], layout.lanes[target]
    floor = layout.building.floors[layout.building.floor_of(target)]
    if target == floor[0 if on_left else -1].name:
        y = box.y + box.height / 2
        return [(lane, y), (box.x - 1 if on_left else box.right + 1, y)]
    share = _share(layout, target)
    y = box.y - 8 - 12 * share
    x = box.x + box.width * 0.08 if on_left else box.right - box.width * 0.08
    return [(lane, y), (x, y), (x, box.y - 1)]


def picture(house: Mapping[str, Building]) -> str:
    """The SVG of the whole house, as `tests.architecture.house.read` gives it."""
    drawing = Drawing()
    whole = house[""]
    left, right = sides(whole)
    low, high = MARGIN + LANE * (len(left) + 1), WIDTH - MARGIN - LANE * (len(right) + 1)
    boxes: dict[str, Box] = {}
    y: float = MARGIN
    for floor in whole.floors:
        weights = [max(map(len, house[each.name].floors)) + 1 if each.name in house else 2 for each in floor]
        height = max(_height(house.get(each.name)) for each in floor)
        boxes |= _row(floor, weights, low, high, y, height, GAP)
        y += height + GAP
    lanes = {name: MARGIN + LANE * place for place, name in enumerate(left)}
    lanes |= {name: WIDTH - MARGIN - LANE * place for place, name in enumerate(right)}
    for floor in whole.floors:
        for folder in floor:
            inside = house.get(folder.name)
            drawing.box(boxes[folder.name], "box")
            write_in(drawing, folder, boxes[folder.name], title=inside is not None)
            if inside is not None:
                _draw_inside(drawing, inside, boxes[folder.name])
    draw_arrows(drawing, Layout(whole, boxes, lanes))
    return page(y - GAP + MARGIN, drawing)


def _draw_inside(drawing: Drawing, building: Building, outer: Box) -> None:
    left, right = sides(building)
    low, high = outer.x + LANE * (len(left) + 2), outer.right - LANE * (len(right) + 2)
    heights = [_inner_height(floor) for floor in building.floors]
    gap = (outer.height - HEAD - MARGIN - sum(heights)) / max(1, len(heights) - 1)
    boxes: dict[str, Box] = {}
    y = outer.y + HEAD
    for floor, height in zip(building.floors, heights, strict=True):
        boxes |= _row(floor, [1] * len(floor), low, high, y, height, INNER_GAP)
        y += height + gap
    for folder in (folder for floor in building.floors for folder in floor):
        drawing.box(boxes[folder.name], "inner")
        write_in(drawing, folder, boxes[folder.name])
    lanes = {name: outer.x + LANE * (place + 1) for place, name in enumerate(left)}
    lanes |= {name: outer.right - LANE * (place + 1) for place, name in enumerate(right)}
    draw_arrows(drawing, Layout(building, boxes, lanes))


def _row(
    floor: Sequence[Folder],
    weights: Sequence[int],
    low: float,
    high: float,
    y: float,
    height: float,
    gap: float,
) -> dict[str, Box]:
    """The boxes of one floor from `low` to `high`, as wide as their weights say."""
    boxes: dict[str, Box] = {}
    room, x = high - low - gap * (len(floor) - 1), low
    for folder, weight in zip(floor, weights, strict=True):
        width = room * weight / sum(weights)
        boxes[folder.name] = Box(round(x, 1), round(y, 1), round(width, 1), height)
        x += width + gap
    return boxes


def _height(inside: Building | None) -> float:
    if inside is None:
        return 60
    heights = [_inner_height(floor) for floor in inside.floors]
    return HEAD + sum(heights) + INNER_GAP * (len(heights) - 1) + MARGIN


def _inner_height(floor: Sequence[Folder]) -> float:
    return 62 if len(floor) == 1 else 46


def write_in(drawing: Drawing, folder: Folder, box: Box, *, title: bool = False) -> None:
    """Write a folder's name, its size, and what it is for as far as there is room."""
    name = folder.name.rpartition(".")[2]
    drawing.text(box.x + 12, box.y + (27 if title else 20), "title" if title else "name", name)
    if box.width < NARROW:
        drawing.text(box.x + 12, box.y + 37, "small", size(folder))
        return
    drawing.text(box.right - 10, box.y + (26 if title else 19), "small", size(folder), "end")
    top = box.y + (46 if title else 37)
    room = int((box.width - 20) / LETTER)
    lines = max(1, min(2, int(box.height - 30) // LINE))
    for number, line in enumerate(textwrap.wrap(folder.summary, room, max_lines=lines, placeholder=" …")):
        drawing.text(box.x + 12, top + LINE * number, "small", line)


def size(folder: Folder) -> str:
    """The lines of a folder's code, to the next hundred."""
    return f"{round(folder.lines, -2):,} lines"


def page(height: float, drawing: Drawing) -> str:
    """The whole SVG."""
    colours = "".join(
        f".c{n}{{stroke:hsl({hue} 62% var(--light))}}.h{n}{{fill:hsl({hue} 62% var(--light))}}"
        for n, hue in enumerate(HUES)
    )
    heads = "".join(
        f'<marker id="head{n}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0 0L8 4L0 8z" class="h{n}"/></marker>'
        for n in range(len(HUES))
    )
    start = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" role="img"'
    )
    title = "The folders of the project on their floors, and which imports which"
    return "\n".join(
        [
            f'{start} aria-label="{title}">',
            f"<style>{STYLE}{colours}</style>",
            f"<defs>{heads}</defs>",
            f'<rect width="{WIDTH}" height="{height:g}" class="back"/>',
            *_flat(drawing),
            "</svg>\n",
        ]
    )


def _flat(drawing: Drawing) -> Iterable[str]:
    yield from drawing.boxes
    yield from drawing.lines
