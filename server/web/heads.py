"""What the page is called at each of its addresses, with a line and a picture, for those who show links (https://ogp.me).

/match/ID/PLY, /embed/ID    who plays whom, and how it ended
/bot/NAME                   its ratings
/event/NAME                 how many matches were played
/maps/NAME                  the map's own line
all else                    the page in general
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape
from urllib.parse import parse_qs, quote, unquote, urlsplit

from msgspec import Struct

from arena.maps.loader import load_file, map_names
from arena.protocol.messages import View
from arena.server.net.request import Request
from arena.server.store.queries import Queries
from arena.server.web import wording
from arena.server.web.pictures.jobs import HEIGHT, WIDTH

ADDRESS = re.compile(r"[A-Za-z0-9.:\[\]_-]{1,255}")
"""What a Host header may say: it goes into the page."""
ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
PLY = re.compile(r"[0-9]{1,6}")
LONGEST_NAME = 128


class Head(Struct, frozen=True):
    """What a link to an address shows."""

    title: str
    line: str
    picture: str = "/picture/arena.png"
    """The path of its picture, 1200 × 630."""


GENERAL = Head("Riskless Arena", "Watch bots play, play against them, read the table.")


class Heads:
    """Looks up what addresses are about."""

    def __init__(self, queries: Queries, live: Callable[[str], View | None]) -> None:
        """`live` gives a match in progress as a spectator sees it; None for any other."""
        self._queries = queries
        self._live = live

    async def of(self, target: str) -> Head:
        """The head of a path with its query. What is not known has the general one."""
        split = urlsplit(target)
        view, *parts = [unquote(each) for each in split.path.split("/") if each] or [""]
        parts += parse_qs(split.query).get("name", [])
        if not parts or len(parts[0]) > LONGEST_NAME:
            return _view_head(view)
        match view:
            case "match" | "embed":
                return await self._match(parts)
            case "bot":
                return await self._bot(parts[0])
            case "event" | "table":
                return await self._event(parts[0])
            case "maps" if parts[0] in map_names():
                return _map(parts[0])
            case "versus" if len(parts) > 1:
                return Head(
                    f"{parts[0]} against {parts[1]}", "Every match of these two, and who scored what."
                )
            case "play":
                return Head(f"Play against {parts[0]}", "A match in the browser, by clicks.")
        return _view_head(view)

    async def _match(self, parts: Sequence[str]) -> Head:
        if not ID.fullmatch(parts[0]):
            return GENERAL
        path = f"/picture/match/{quote(parts[0])}"
        at = ""
        if len(parts) > 1 and PLY.fullmatch(parts[1]):
            path, at = f"{path}/{parts[1]}", f" · ply {parts[1]}"
        view = self._live(parts[0])
        if view is not None:
            title = f"{view.players.maxie} v {view.players.minnie}"
            about = wording.played(view.game, str(view.setup.get("map", "")), str(view.time_control))
            return Head(title, f"{about} · in progress, ply {len(view.moves)}{at}", f"{path}.png")
        shown = await self._queries.shown(parts[0])
        if shown is None:
            return GENERAL
        about = wording.played(shown.game, shown.map, shown.time_control)
        line = f"{about} · {wording.ended(shown.players, shown.result)} · {shown.plies} plies{at}"
        return Head(f"{shown.players.maxie} v {shown.players.minnie}", line, f"{path}.png")

    async def _bot(self, name: str) -> Head:
        found = await self._queries.standings_of(name)
        if not found:
            return Head(name, "A bot of this arena.")
        told = [
            f"{wording.GAMES.get(each.game, each.game)} {each.rating:.0f} ± {2 * each.deviation:.0f}"
            for each in found
        ]
        matches = sum(each.matches for each in found)
        return Head(
            name, f"{', '.join(told)} · {matches} rated matches", f"/picture/bot/{quote(name, safe='')}.png"
        )

    async def _event(self, event: str) -> Head:
        counted = await self._queries.counted(event)
        if counted is None:
            return Head(event, "An event of this arena.")
        return Head(
            event, f"The table after {counted} matches", f"/picture/event/{quote(event, safe='')}.png"
        )


_VIEWS = {
    "table": Head("Table", "Ratings with their errors, and who scored what against whom."),
    "search": Head("Search", "Finished matches by bot, opponent, map, game, result and opening."),
    "maps": Head("Maps", "The maps of Riskless, what was measured on them, and what is known of them."),
    "play": Head("Play", "A match against a bot or another person, in the browser."),
}


def _view_head(view: str) -> Head:
    return _VIEWS.get(view, GENERAL)


def _map(name: str) -> Head:
    file = load_file(name)
    told = f"{file.map.size} territories, {file.map.armies_to_win} armies to win"
    return Head(f"Map {name}", file.description or told, f"/picture/map/{quote(name)}.png")


def html(head: Head, request: Request, *, secure: bool) -> bytes:
    """The elements that tell the head, with whole addresses as far as the request says under which name it came."""
    host = ", ".join(request.headers.get_all("Host"))
    proxied = request.headers.get_all("X-Forwarded-Proto") == ["https"]
    origin = f"{'https' if secure or proxied else 'http'}://{host}" if ADDRESS.fullmatch(host) else ""
    title = head.title if head is GENERAL else f"{head.title} · Riskless Arena"
    told = {
        "og:site_name": "Riskless Arena",
        "og:type": "website",
        "og:title": head.title,
        "og:description": head.line,
        "og:url": origin + urlsplit(request.path).path,
        "og:image": origin + head.picture,
        "og:image:width": str(WIDTH),
        "og:image:height": str(HEIGHT),
        "og:image:alt": f"{head.title}: {head.line}",
    }
    lines = [
        f"<title>{escape(title)}</title>",
        f'<meta name="description" content="{escape(head.line)}">',
        *(f'<meta property="{name}" content="{escape(value)}">' for name, value in told.items()),
        '<meta name="twitter:card" content="summary_large_image">',
    ]
    return "\n".join(lines).encode()
