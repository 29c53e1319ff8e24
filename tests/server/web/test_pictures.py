"""Pictures over HTTP: drawn by the page process, and cached."""

from __future__ import annotations

import io

from PIL import Image

from arena.server.host import ArenaServer
from arena.server.store.aggregates.match_counting import add_new_matches_to_aggregates
from tests.server.web.test_web_app import get, play


async def test_matches_maps_and_events_have_pictures(host: ArenaServer) -> None:
    (match,) = await play(host, 1)
    await add_new_matches_to_aggregates(host.db_engine)
    for path, kind in {
        f"/picture/match/{match}/2.png": "PNG",
        f"/picture/match/{match}.png": "PNG",
        f"/picture/match/{match[:6]}.png": "PNG",
        "/picture/event/test.png": "PNG",
        "/picture/map/path4.png": "PNG",
        f"/film/{match}.gif": "GIF",
    }.items():
        status, headers, body = await get(host, path)
        assert (status, headers["Content-Type"]) == (200, f"image/{kind.lower()}")
        assert ("/match/" in path or "/film/" in path) <= (
            (match in path) == (headers["Cache-Control"] != "no-cache")
        )
        assert Image.open(io.BytesIO(body)).format == kind
        again, _, same = await get(host, path)
        assert (again, same) == (200, body)
    for path in (
        "/picture/map/none.png",
        f"/picture/match/{match}/99.png",
        "/picture/match/none.png",
        "/film/none.gif",
        "/picture/x.png",
    ):
        status, _, body = await get(host, path)
        assert (status, body.count(b"\n")) == (404, 1), path
