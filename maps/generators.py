"""Maps that are made by a rule instead of read from a file: `ring:N` and `grid:WxH`.

Their limits are one rule for all: the cap is 10, half of all that the map can hold wins, and a match
is a draw after 10 plies a territory, or 400 where that is more. `grid:4x4` has the numbers of `m2`.
"""

from __future__ import annotations

from math import cos, pi, prod, sin

from games.board import MAX_TERRITORIES, RisklessMap

CAP = 10
LEAST_PLIES = 400


def ring(size: int) -> RisklessMap:
    """A cycle of `size` territories (3 to 1,000) called by their numbers; roads lead onward, then back.

    As in `m1`, Minnie starts on 0 with 2 armies, and Maxie opposite to her with 1.
    """
    around = [2 * pi * v / size for v in range(size)]
    radius = 4 * size
    return _made(
        f"ring:{size}",
        territories=tuple(map(str, range(size))),
        neighbours=tuple(((v + 1) % size, (v - 1) % size) for v in range(size)),
        minnie=0,
        maxie=size // 2,
        places=tuple((round(radius * sin(turn), 2), round(-radius * cos(turn), 2)) for turn in around),
    )


def grid(width: int, height: int) -> RisklessMap:
    """`width` × `height` territories, 2 to 1,000, row by row; roads lead up, left, right and down.

    A name is a column's letters and a row's number, as in a spreadsheet: a1 is the top left. As in
    `m2`, Minnie starts there with 2 armies, and Maxie in the opposite corner with 1.
    """
    cells = [(x, y) for y in range(height) for x in range(width)]
    around = ((0, -1), (-1, 0), (1, 0), (0, 1))
    return _made(
        f"grid:{width}x{height}",
        territories=tuple(f"{column(x)}{y + 1}" for x, y in cells),
        neighbours=tuple(
            tuple(
                (y + dy) * width + x + dx for dx, dy in around if 0 <= x + dx < width and 0 <= y + dy < height
            )
            for x, y in cells
        ),
        minnie=0,
        maxie=len(cells) - 1,
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


def _made(
    name: str,
    territories: tuple[str, ...],
    neighbours: tuple[tuple[int, ...], ...],
    minnie: int,
    maxie: int,
    places: tuple[tuple[float, float], ...],
) -> RisklessMap:
    size = len(territories)
    start = [0] * size
    start[minnie], start[maxie] = -2, 1
    return RisklessMap(
        name=name,
        territories=territories,
        neighbours=neighbours,
        territory_cap=CAP,
        armies_to_win=CAP * size // 2,
        ply_limit=max(LEAST_PLIES, 10 * size),
        start=tuple(start),
        places=places,
    )
