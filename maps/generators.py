"""Maps that are made by a rule instead of read from a file: `ring:N` and `grid:WxH`.

A quarter of all that the map can hold wins, and a match is a draw after 10 plies a territory, or 1,000 where that is
more. About two fifths of the territories are held at the start, as many by each side, with 2 armies each; Minnie has
an army more on the first of hers, on `ring:12` three and on `ring:32` two. With these numbers most matches between
equals are decided, and neither seat is the better one: `arena maps measure` found them. `m1` and `m2`, a ring and a
grid, keep the numbers of their source.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, pi, prod, sin

from arena.games.board import MAX_TERRITORIES, RisklessMap

RING_CAP = 100
GRID_CAP = 50
"""The most armies of a territory: more on a ring, where there are few ways to attack, and matches would else be short."""
LEAST_PLIES = 1000
ARMIES = 2
"""Armies of a territory that is held at the start."""
HELD = 5
"""Each side holds one territory of so many at the start."""
RING_EXTRAS = {12: 3, 32: 2}
"""How many armies more Minnie has on a ring of so many territories, where one army is too little."""
MINNIES = {(5, 5): 3, (6, 5): 2, (7, 6): 1, (7, 7): 2, (8, 6): 4}
"""Minnie's colour on grids of these widths and heights, where the first that is possible leaves a seat the better one."""


def ring(size: int) -> RisklessMap:
    """A cycle of `size` territories (3 to 1,000) called by their numbers; roads lead onward, then back.

    The territories that are held at the start are spread evenly, Minnie's and Maxie's in turn, from Minnie's on 0.
    """
    held = 2 * max(1, round(size / HELD))
    spots = [number * size // held for number in range(held)]
    around = [2 * pi * v / size for v in range(size)]
    radius = 4 * size
    return assemble(
        f"ring:{size}",
        territories=tuple(map(str, range(size))),
        neighbours=tuple(((v + 1) % size, (v - 1) % size) for v in range(size)),
        cap=RING_CAP,
        minnie=spots[0::2],
        maxie=spots[1::2],
        extra=RING_EXTRAS.get(size, 1),
        places=tuple((round(radius * sin(turn), 2), round(-radius * cos(turn), 2)) for turn in around),
    )


def grid(width: int, height: int) -> RisklessMap:
    """`width` × `height` territories, 2 to 1,000, row by row; roads lead up, left, right and down.

    A name is a column's letters and a row's number, as in a spreadsheet: a1 is the top left. The cells are coloured with
    HELD colours, those of one colour a knight's move apart. Minnie has one colour, and Maxie that which takes its place
    when the grid is turned by half a circle: so it shows each side the other's.
    """
    cells = [(x, y) for y in range(height) for x in range(width)]
    around = ((0, -1), (-1, 0), (1, 0), (0, 1))
    colours = [(x + 2 * y) % HELD for x, y in cells]
    opposite = [(colours[-1] - colour) % HELD for colour in range(HELD)]
    first = next(colour for colour in range(HELD) if opposite[colour] != colour)
    minnies = MINNIES.get((width, height), first)
    return assemble(
        f"grid:{width}x{height}",
        territories=tuple(f"{column(x)}{y + 1}" for x, y in cells),
        neighbours=tuple(
            tuple(
                (y + dy) * width + x + dx for dx, dy in around if 0 <= x + dx < width and 0 <= y + dy < height
            )
            for x, y in cells
        ),
        cap=GRID_CAP,
        minnie=[v for v, colour in enumerate(colours) if colour == minnies],
        maxie=[v for v, colour in enumerate(colours) if colour == opposite[minnies]],
        places=tuple((20.0 * x, 12.0 * y) for x, y in cells),
    )


def column(number: int) -> str:
    """The letters of a column: a to z, then aa, ab …"""
    letters = ""
    number += 1
    while number:
        number, letter = divmod(number - 1, 26)
        letters = chr(ord("a") + letter) + letters
    return letters


def made(spec: str) -> RisklessMap:
    """The map that `ring:N` or `grid:WxH` stands for. Raises ValueError, saying what would be right."""
    kind, numbers = parsed(spec)
    return ring(*numbers) if kind == "ring" else grid(*numbers)


def parsed(spec: str) -> tuple[str, tuple[int, ...]]:
    """The kind and the numbers of `ring:N` or `grid:WxH`, of which the map has as many territories as their product.

    Nothing is made for it. Raises ValueError, saying what would be right.
    """
    kind, _, size = spec.partition(":")
    words = size.lower().split("x", 2)
    if all(word.isascii() and word.isdecimal() and len(word) <= 4 for word in words):
        numbers = tuple(map(int, words))
        if kind == "ring" and len(numbers) == 1 and 3 <= numbers[0] <= MAX_TERRITORIES:
            return kind, numbers
        if kind == "grid" and len(numbers) == 2 and 2 <= prod(numbers) <= MAX_TERRITORIES:
            return kind, numbers
    if kind == "ring":
        raise ValueError(f"a ring is ring:N, N from 3 to {MAX_TERRITORIES}, as in ring:12")
    if kind == "grid":
        raise ValueError(f"a grid is grid:WxH, 2 to {MAX_TERRITORIES} territories in all, as in grid:6x7")
    raise ValueError("only ring:N and grid:WxH are made, as in ring:12 and grid:6x7")


def assemble(
    name: str,
    territories: tuple[str, ...],
    neighbours: tuple[tuple[int, ...], ...],
    cap: int,
    minnie: Sequence[int],
    maxie: Sequence[int],
    places: tuple[tuple[float, float], ...],
    extra: int = 1,
) -> RisklessMap:
    """The map with ARMIES on each territory that is held at the start, and `extra` more on the first of Minnie's."""
    size = len(territories)
    start = [0] * size
    for v in maxie:
        start[v] = ARMIES
    for v in minnie:
        start[v] = -ARMIES
    start[minnie[0]] -= extra
    return RisklessMap(
        name=name,
        territories=territories,
        neighbours=neighbours,
        territory_cap=cap,
        armies_to_win=cap * size // 4,
        ply_limit=max(LEAST_PLIES, 10 * size),
        start=tuple(start),
        places=places,
    )
