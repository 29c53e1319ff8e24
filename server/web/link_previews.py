"""Title, description and picture of each page address, for sites that show link previews (https://ogp.me).

Page addresses (left), and the URL paths of their pictures (right):

/match/ID/PLY, /embed/ID   /picture/match/ID.png, /picture/match/ID/PLY.png, or the whole match as /film/ID.gif
/bot/NAME                  /picture/bot/NAME.png, a list of the bot's ratings
/event/NAME, /embed/event/NAME
                           /picture/event/NAME.png, the event's table
/maps/NAME                 /picture/map/NAME.png
all others                 /picture/arena.png
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from html import escape
from http import HTTPStatus
from urllib.parse import parse_qs, quote, unquote

import anyio.to_thread
from msgspec import Struct

from arena.maps.loader import list_built_in_map_names, load_annotated_map
from arena.protocol.messages import View
from arena.server.edge.responses import Response
from arena.server.store.aggregates.event_tables import count_finished_matches
from arena.server.store.aggregates.ratings import load_rating_rows_of_bot
from arena.server.store.database import Engine
from arena.server.store.finished_matches import find_record, load_match_summary
from arena.server.store.queries import load_event_table
from arena.server.web import titles
from arena.server.web.initial_page import DEMO_MATCH_FILE
from arena.server.web.maps import require_built_in_map
from arena.server.web.pictures import PREVIEW_HEIGHT, PREVIEW_WIDTH, TableCardRow
from arena.server.web.routes import (
    MATCH_ID_PATTERN,
    MAX_NAME_PARAMETER_LENGTH,
    NotFound,
    make_match_not_found_error,
)
from arena.server.web.static_files import CACHE_CONTROL_ONE_DAY

PLY_PATTERN = re.compile(r"[0-9]{1,6}")
"""Pattern of a ply (number of a move) in a page address."""
# URL paths of pictures: of a match (with or without a ply), of a film of a match, and of a map, a bot or an event.
_MATCH_PICTURE_PATH_PATTERN = re.compile(r"/picture/match/([A-Za-z0-9_.:-]{1,64})(?:/([0-9]{1,6}))?\.png")
_FILM_PATH_PATTERN = re.compile(r"/film/([A-Za-z0-9_.:-]{1,64})\.gif")
_NAMED_PICTURE_PATH_PATTERN = re.compile(r"/picture/(map|bot|event)/(.{1,128})\.png")


class LinkPreview(Struct, frozen=True):
    """Title, description and picture that other sites show for a link to a page of this server."""

    title: str
    description: str
    """Text that a link preview shows below the title, in one line."""
    picture: str = "/picture/arena.png"
    """URL path of the picture."""


DEFAULT_LINK_PREVIEW = LinkPreview("Riskless Arena", "Watch bots play, play against them, read the table.")
_LINK_PREVIEW_BY_VIEW = {
    "table": LinkPreview("Ratings", "Ratings with their errors, and who scored what against whom."),
    "search": LinkPreview("Search", "Finished matches by bot, opponent, map, game, result and opening."),
    "maps": LinkPreview("Maps", "The Riskless maps, with what was measured and what was solved."),
    "tv": LinkPreview("Arena TV", "The matches most worth watching, one after another."),
    "play": LinkPreview("Play", "A match against a bot or another person, in the browser."),
}


class LinkPreviewHandler:
    """Handler of requests for link previews (title, description and picture) of the server's pages, and for the pictures."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def find_preview(self, path: str, query: str, live_match: View | None) -> LinkPreview:
        """Return the link preview of a page; a general one for an unknown page.

        path, query: percent-encoded path and query of the page's URL
        live_match: spectators' view of the match on this page; None if no match on the page is in progress
        """
        view, arguments = _parse_view_and_arguments(path, query)
        if not arguments or view == "tv" or len(arguments[0]) > MAX_NAME_PARAMETER_LENGTH:
            return _LINK_PREVIEW_BY_VIEW.get(view, DEFAULT_LINK_PREVIEW)
        match view:
            case "embed" if arguments[0] == "event" and len(arguments) > 1:
                return await self._make_event_preview(arguments[1])
            case "match" | "embed":
                return await self._make_match_preview(
                    arguments[0], arguments[1] if len(arguments) > 1 else "", live_match
                )
            case "bot":
                return await self._make_bot_preview(arguments[0])
            case "event" | "table":
                return await self._make_event_preview(arguments[0])
            case "maps" if arguments[0] in list_built_in_map_names():
                return _make_map_preview(arguments[0])
            case "versus" if len(arguments) > 1:
                description = "Every match of these two, and who scored what."
                return LinkPreview(f"{arguments[0]} against {arguments[1]}", description)
            case "play":
                return LinkPreview(f"Play against {arguments[0]}", "A match in the browser, by clicks.")
        return _LINK_PREVIEW_BY_VIEW.get(view, DEFAULT_LINK_PREVIEW)

    async def _make_match_preview(self, match_id: str, ply: str, live_match: View | None) -> LinkPreview:
        if not MATCH_ID_PATTERN.fullmatch(match_id):
            return DEFAULT_LINK_PREVIEW
        path, ply_text = f"/picture/match/{quote(match_id)}", ""
        shown_ply = int(ply) if PLY_PATTERN.fullmatch(ply) else None
        if shown_ply is not None:
            path, ply_text = f"{path}/{ply}", f" · move {ply}"
        summary = await load_match_summary(self._engine, match_id)
        if summary is not None:
            conditions = titles.make_match_title(summary.game, summary.map, summary.time_control)
            if (
                shown_ply is not None and shown_ply < summary.ply_count
            ):  # a link to a position does not tell the result
                description = f"{conditions}{ply_text} of {summary.ply_count}"
            else:
                description = f"{conditions} · {titles.make_result_title(summary.players, summary.result)} · {summary.ply_count} moves"
            return LinkPreview(
                " v ".join(titles.make_bot_titles(summary.players)), description, f"{path}.png"
            )
        if live_match is None:
            return DEFAULT_LINK_PREVIEW
        description = (
            f"{titles.make_live_match_title(live_match)} · live, move {len(live_match.moves)}{ply_text}"
        )
        return LinkPreview(" v ".join(titles.make_bot_titles(live_match.players)), description, f"{path}.png")

    async def _make_bot_preview(self, name: str) -> LinkPreview:
        rating_rows = await load_rating_rows_of_bot(self._engine, name)
        if not rating_rows:
            return LinkPreview(titles.make_bot_title(name), "A bot of this arena.")
        ratings_text = ", ".join(
            f"{titles.GAME_TITLE_BY_NAME.get(row.game, row.game)} {row.glicko}" for row in rating_rows
        )
        match_count = sum(row.matches for row in rating_rows)
        return LinkPreview(
            titles.make_bot_title(name),
            f"{ratings_text} · {match_count} rated matches",
            f"/picture/bot/{quote(name, safe='')}.png",
        )

    async def _make_event_preview(self, event_name: str) -> LinkPreview:
        match_count = await count_finished_matches(self._engine, event_name)
        if match_count is None:
            return LinkPreview(titles.make_event_title(event_name), "An event of this arena.")
        picture = f"/picture/event/{quote(event_name, safe='')}.png"
        return LinkPreview(
            titles.make_event_title(event_name), f"The table after {match_count} matches", picture
        )

    async def answer_picture_request(self, path: str, live_match: View | None) -> Response:
        """Return a response with the picture that a URL path asks for. Raises NotFound if there is no such picture.

        path: percent-decoded URL path, such as `/picture/match/ID.png`
        live_match: spectators' view of the match in the picture; None if that match is not in progress, or for other pictures
        """
        from arena.server.web.pictures import drawing  # noqa: PLC0415  slow to load, and large

        if path == "/picture/arena.png":
            return await _answer_with_picture(
                partial(drawing.draw_arena_banner, DEMO_MATCH_FILE.read_text(encoding="utf-8")),
                is_permanent=True,
            )
        if film_path := _FILM_PATH_PATTERN.fullmatch(path):
            match = film_path[1]
            record_line, is_full_match_id = await find_record(self._engine, match)
            if record_line is None:
                raise make_match_not_found_error(match)
            return await _answer_with_picture(
                partial(drawing.draw_film, record_line), is_permanent=is_full_match_id, media_type="image/gif"
            )
        if match_path := _MATCH_PICTURE_PATH_PATTERN.fullmatch(path):
            match, ply = match_path[1], None if match_path[2] is None else int(match_path[2])
            record_line, is_full_match_id = await find_record(self._engine, match)
            if record_line is not None:
                return await _answer_with_picture(
                    partial(drawing.draw_record, record_line, ply), is_permanent=is_full_match_id
                )
            if live_match is None:
                raise NotFound(f"no match is called {match!r:.80}")
            return await _answer_with_picture(
                partial(drawing.draw_live_match, live_match, ply), is_permanent=False
            )
        if named_path := _NAMED_PICTURE_PATH_PATTERN.fullmatch(path):
            subject, name = named_path.groups()
            if subject == "map":
                require_built_in_map(name)
                return await _answer_with_picture(partial(drawing.draw_map, name), is_permanent=True)
            summary_and_rows = await (
                self._load_summary_and_ratings(name)
                if subject == "bot"
                else self._load_summary_and_standings(name)
            )
            if summary_and_rows is None:
                raise NotFound(f"no {subject} called {name!r:.80} has finished matches")
            title = titles.make_event_title(name) if subject == "event" else titles.make_bot_title(name)
            return await _answer_with_picture(
                partial(drawing.draw_table, title, *summary_and_rows), is_permanent=False
            )
        raise NotFound(
            "no picture has this path: use one such as /picture/match/ID.png, /picture/map/NAME.png or /film/ID.gif"
        )

    async def _load_summary_and_ratings(self, name: str) -> tuple[str, list[TableCardRow]] | None:
        """Return a summary line and the rows of a bot's ratings for `draw_table`; None if the bot has no rating.

        Each row is named after a game, and its number is the bot's rating in the game.
        """
        rating_rows = await load_rating_rows_of_bot(self._engine, name)
        if not rating_rows:
            return None
        max_rating = max(1.0, *(row.rating for row in rating_rows))
        rows = [
            TableCardRow(
                titles.GAME_TITLE_BY_NAME.get(row.game, row.game), str(row.glicko), row.rating / max_rating
            )
            for row in rating_rows
        ]
        return f"{sum(row.matches for row in rating_rows)} rated matches", rows

    async def _load_summary_and_standings(self, event_name: str) -> tuple[str, list[TableCardRow]] | None:
        """Return a summary line and the rows of a tournament's table for `draw_table`; None if there is no such tournament.

        Each row is named after a bot, and its number is the bot's Elo with its error.
        """
        table = await load_event_table(self._engine, event_name)
        if table is None:
            return None
        max_elo = max((abs(row.elo) for row in table.rows), default=1.0) or 1.0
        rows = [
            TableCardRow(
                titles.make_bot_title(row.bot),
                f"{row.elo:+.0f} ± {row.elo_error:.0f}",
                (row.elo + max_elo) / (2 * max_elo),
            )
            for row in table.rows
        ]
        return f"The table after {table.counted_match_count} matches", rows


def parse_shown_match_id(path: str, query: str) -> str:
    """Return the id of the match that a page or a picture shows; empty if it shows none.

    path, query: percent-encoded path and query of the URL
    """
    if picture_path := _MATCH_PICTURE_PATH_PATTERN.fullmatch(unquote(path)):
        return picture_path[1]
    view, arguments = _parse_view_and_arguments(path, query)
    if (
        view not in ("match", "embed")
        or not arguments
        or (view == "embed" and arguments[0] == "event" and len(arguments) > 1)
    ):
        return ""
    return arguments[0] if MATCH_ID_PATTERN.fullmatch(arguments[0]) else ""


def _parse_view_and_arguments(path: str, query: str) -> tuple[str, list[str]]:
    """Return the first part of a URL path, which names the kind of page, and a list of the names and ids that follow.

    All parts are percent-decoded. The values of the query parameter `name` are appended to the list, so `/bot/x` and
    `/bot?name=x` give the same result. The first part is empty for the path `/`.
    """
    view, *arguments = [unquote(part) for part in path.split("/") if part] or [""]
    return view, arguments + parse_qs(query).get("name", [])


async def _answer_with_picture(
    draw: Callable[[], bytes], *, is_permanent: bool, media_type: str = "image/png"
) -> Response:
    """Return a response with the picture that `draw` returns.

    is_permanent: True if the picture at this URL never changes
    media_type: media type of the picture
    """
    body = await anyio.to_thread.run_sync(draw)
    headers = {
        "Cache-Control": CACHE_CONTROL_ONE_DAY if is_permanent else "no-cache",
        "X-Content-Type-Options": "nosniff",
    }
    return Response(HTTPStatus.OK, media_type, body, headers)


def _make_map_preview(name: str) -> LinkPreview:
    file = load_annotated_map(name)
    description = f"{file.map.territory_count} territories, {file.map.armies_to_win} armies to win"
    return LinkPreview(
        titles.make_map_title(name), file.description or description, f"/picture/map/{quote(name)}.png"
    )


def render_preview(preview: LinkPreview, origin: str, path: str) -> bytes:
    """Return the HTML elements of a preview for the head of a page.

    origin: beginning of the page's URL, as in `https://arena.example`; empty if unknown
    path: percent-encoded URL path of the page
    """
    title = preview.title if preview is DEFAULT_LINK_PREVIEW else f"{preview.title} · Riskless Arena"
    properties = {
        "og:site_name": "Riskless Arena",
        "og:type": "website",
        "og:title": preview.title,
        "og:description": preview.description,
        "og:url": origin + path,
        "og:image": origin + preview.picture,
        "og:image:width": str(PREVIEW_WIDTH),
        "og:image:height": str(PREVIEW_HEIGHT),
        "og:image:alt": f"{preview.title}: {preview.description}",
    }
    lines = [
        f"<title>{escape(title)}</title>",
        f'<meta name="description" content="{escape(preview.description)}">',
        *(f'<meta property="{name}" content="{escape(value)}">' for name, value in properties.items()),
        '<meta name="twitter:card" content="summary_large_image">',
    ]
    return "\n".join(lines).encode()
