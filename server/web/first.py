"""What the start page shows before its scripts have come: a match as it stands, in the page itself.

On a slow network the scripts take some seconds and the page less than one. The picture has the classes of the page's own boards
(`page/js/boards/map.js`), so that it has their colours in the light and in the dark, and it is replaced by them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from pathlib import Path
from time import monotonic
from urllib.parse import quote

import anyio.to_thread

from arena.games.catalogue import make_game
from arena.games.core import GameError
from arena.games.riskless import Riskless
from arena.maps.cells import Ring, shipped_cells
from arena.maps.layout import Point, nearest_pair, roads
from arena.maps.mapfile import MapFile
from arena.protocol.messages import LiveMatch, View
from arena.protocol.record import from_line
from arena.protocol.values import Data, Players
from arena.server.web import wording
from arena.server.web.pictures.boards import shipped

HEADLINE = "Programs fight for maps. Watch them, or play one."
PLAIN = f'<div class="pitch"><h1>{HEADLINE}</h1></div>'.encode()
"""What is shown where there is no match to draw, and at other addresses than the start page's."""
DEMO = Path(__file__).parents[2] / "page" / "demo.jsonl"
"""The match that comes with the page."""
KEPT_SECONDS = 2.0
"""For how long a picture is shown again: it is still, and the scripts replace it by one that moves."""
APART, WIDEST, NARROWEST, MARGIN, RADIUS = 62.0, 1500.0, 300.0, 40.0, 13.0
"""As in `boards/geometry.js`: the pixels between the two closest places, the bounds of the width, the margin, and a mark's radius."""
TINTS = 8
NAMES = {"maxie": "Maxie", "minnie": "Minnie"}


@dataclass(frozen=True)
class HeroMatch:
    """A match as it stands, or stood when it was seen last."""

    match: str
    """Its id; empty where it has no address."""
    game: str
    setup: Mapping[str, Data]
    players: Players
    moves: Sequence[Data]
    live: bool


class FirstView:
    """The beginning of the start page of one server."""

    def __init__(self, listed: Callable[[], list[LiveMatch]], live: Callable[[str], View | None]) -> None:
        """`listed` gives the matches in progress, and `live` one of them as a spectator sees it."""
        self._listed = listed
        self._live = live
        self._seen = demo()
        """The match that was seen last, or the one that comes with the page."""
        self._kept: tuple[float, bytes] = (0.0, PLAIN)

    async def shown(self) -> bytes:
        """The elements, as they were made in the last seconds or are made anew, beside the event loop."""
        now = monotonic()
        until, made = self._kept
        if now < until:
            return made
        # Whoever asks meanwhile is answered what there is.
        self._kept = now + KEPT_SECONDS, made
        self._seen = self._chosen() or replace(self._seen, live=False)
        made = await anyio.to_thread.run_sync(hero, self._seen)
        self._kept = monotonic() + KEPT_SECONDS, made
        return made

    def _chosen(self) -> HeroMatch | None:
        """The match that the page will show first, where it is one of Riskless."""
        # One on another server of the arena may not be known here move by move.
        views = (self._live(each.match) for each in self._listed() if each.game == "riskless")
        view = next((each for each in views if each is not None), None)
        if view is None:
            return None
        moves = [each.move for each in view.moves]
        return HeroMatch(view.match, view.game, view.setup, view.players, moves, live=True)


def demo() -> HeroMatch:
    """The match that comes with the page, when two thirds of it are played: who leads is then seen, and all is not over."""
    record = from_line(DEMO.read_text(encoding="utf-8"))
    moves = [each.move for each in record.moves]
    return HeroMatch("", record.game, record.setup, record.players, moves[: 2 * len(moves) // 3], live=False)


def hero(shown: HeroMatch) -> bytes:
    """The headline and a match of Riskless. Takes a millisecond or two."""
    try:
        game = make_game(shown.game, shown.setup)
        if not isinstance(game, Riskless):
            return PLAIN
        position = game.start()
        for move in shown.moves:
            position = game.play(position, game.move_from_data(move))
    except GameError:
        return PLAIN
    armies: Sequence[int] = position.armies
    sums = {"maxie": sum(n for n in armies if n > 0), "minnie": -sum(n for n in armies if n < 0)}
    players = {"maxie": shown.players.maxie, "minnie": shown.players.minnie}
    goal = game.map.armies_to_win
    game_and_map = " · ".join(
        each for each in (wording.GAMES["riskless"], str(shown.setup.get("map", ""))) if each
    )
    live = ' data-live=""' if shown.live else ""
    file = shipped(game)
    # What the scripts will ask for at once, for they draw the same match.
    asked = f"/api/map/{quote(file.map.name, safe='')}" if file else ""
    early = f'<link rel="preload" as="fetch" crossorigin="" href="{asked}"/>' if asked else ""
    link = f'<a class="button plain" href="/match/{quote(shown.match, safe="")}">Watch this match</a>'
    said = f"Map, ply {len(shown.moves)}: " + ", ".join(
        f"{NAMES[seat]} has {sums[seat]} armies" for seat in NAMES
    )
    return (
        f'<div class="hero">{early}<div class="pitch"><h1>{HEADLINE}</h1><a class="button big" href="/play">Play</a></div>'
        '<section class="stage first" aria-label="A match"><div class="stage-head"><h2 class="stage-title">'
        f'<span class="kind"{live}>{"Live" if shown.live else "A match"}: {escape(game_and_map)}</span></h2>'
        f"{link if shown.match else ''}</div>"
        f'<div class="stage-sides">{"".join(_side(seat, players[seat], sums[seat], goal) for seat in NAMES)}</div>'
        f'<p class="lead">{escape(_lead(sums, players))}</p>'
        f'<div class="stage-board">{_picture(game, file).svg(armies, said)}</div></section></div>'
    ).encode()


def _side(seat: str, name: str, armies: int, goal: int) -> str:
    return (
        f'<div class="player" data-owner="{seat}"><span class="shape" role="img" aria-label="{NAMES[seat]}:"></span>'
        f'<span class="name">{escape(name)}</span><span class="score">{armies} of {goal} armies to win</span>'
        f'<progress class="goal" aria-hidden="true" max="{goal}" value="{min(armies, goal)}"></progress></div>'
    )


def _lead(sums: dict[str, int], players: dict[str, str]) -> str:
    ahead = sums["maxie"] - sums["minnie"]
    if not ahead:
        return "As many armies on both sides"
    leader = players["maxie" if ahead > 0 else "minnie"]
    return f"{leader} leads by {abs(ahead)} {'army' if abs(ahead) == 1 else 'armies'}"


def _picture(game: Riskless, file: MapFile | None) -> Picture:
    if file is None:
        return Picture(MapFile(game.map), None)
    return Picture(file, shipped_cells(game.map.name))


@dataclass(frozen=True)
class Picture:
    """The picture of a map, laid out as `layOut` in `boards/geometry.js` does."""

    file: MapFile
    cells: list[list[Ring]] | None
    """The area of each territory, where it is known."""

    @cached_property
    def _frame(self) -> tuple[float, float, float, float, float]:
        """The scale, the picture's width and height, and where the westernmost and the northernmost place are drawn."""
        xs, ys = zip(*self.file.map.places, strict=True)
        wide, high = max(xs) - min(xs), max(ys) - min(ys)
        scale = min(APART / nearest_pair(self.file.map), WIDEST / (wide or 1.0))
        width = max(NARROWEST, wide * scale + 2 * MARGIN)
        left = (width - wide * scale) / 2 - min(xs) * scale
        return scale, width, high * scale + 2 * MARGIN, left, MARGIN - min(ys) * scale

    def _at(self, place: Point) -> Point:
        scale, _, _, left, top = self._frame
        return left + place[0] * scale, top + place[1] * scale

    def svg(self, armies: Sequence[int], said: str) -> str:
        """The map with its armies, signed as in a position, and what a screen reader says of it."""
        _, width, height, _, _ = self._frame
        places = [self._at(place) for place in self.file.map.places]
        parts = [*self._land(armies), *(_road(*line) for line in self._roads(places))]
        parts += [_spot(at, n) for at, n in zip(places, armies, strict=True)]
        box = f'viewBox="0 0 {width:.1f} {height:.1f}" role="img" aria-label="{escape(said)}"'
        return f'<svg class="map" {box}>{"".join(parts)}</svg>'

    def _land(self, armies: Sequence[int]) -> list[str]:
        if self.cells is None:
            return []
        tints = {v: n % TINTS for n, (_, members) in enumerate(self.file.continents) for v in members}
        outlines = [self._outline(rings) for rings in self.cells]
        classes = [f"ground tint-{tints[v]}" if v in tints else "ground" for v in range(len(self.cells))]
        ground = [f'<path class="{each}" d="{d}"/>' for each, d in zip(classes, outlines, strict=True)]
        areas = [
            f'<path class="area-of" data-owner="{_owner(n)}" d="{d}"/>'
            for n, d in zip(armies, outlines, strict=True)
        ]
        return ground + areas

    def _outline(self, rings: list[Ring]) -> str:
        drawn = (
            "L".join(f"{x:.1f} {y:.1f}" for x, y in (self._at((x, y)) for x, y in ring)) for ring in rings
        )
        return "".join(f"M{each}Z" for each in drawn)

    def _roads(self, places: Sequence[Point]) -> list[tuple[Point, Point]]:
        """The straight lines of all roads; where the map goes round, a long one leaves it and enters on the other side."""
        drawn: list[tuple[Point, Point]] = []
        xs = [x for x, _ in places]
        edges = min(xs) - MARGIN, max(xs) + MARGIN
        for v, w in roads(self.file.map):
            a, b = sorted((places[v], places[w]))
            if not self.file.wraps or b[0] - a[0] <= (edges[1] - edges[0]) / 2:
                drawn.append((a, b))
            else:
                middle = (a[1] + b[1]) / 2
                drawn += [(a, (edges[0], middle)), ((edges[1], middle), b)]
        return drawn


def _owner(armies: int) -> str:
    return "maxie" if armies > 0 else "minnie" if armies < 0 else "nobody"


def _road(a: Point, b: Point) -> str:
    return f'<line class="road" x1="{a[0]:.1f}" y1="{a[1]:.1f}" x2="{b[0]:.1f}" y2="{b[1]:.1f}"/>'


def _spot(at: Point, armies: int) -> str:
    place = f'<g class="spot" data-owner="{_owner(armies)}" transform="translate({at[0]:.1f} {at[1]:.1f})">'
    if not armies:
        return f'{place}<circle class="empty" r="{RADIUS / 2}"/></g>'
    side = 1.8 * RADIUS
    square = f'<rect class="minnie" x="{-side / 2:.1f}" y="{-side / 2:.1f}" width="{side:.1f}" height="{side:.1f}" rx="3"/>'
    mark = f'<circle class="maxie" r="{RADIUS:.0f}"/>' if armies > 0 else square
    return f'{place}{mark}<text class="armies" y="4.8">{abs(armies)}</text></g>'
