"""Pictures that are asked for: drawn in another process, kept, and given up where they take too long."""

from __future__ import annotations

import io

import anyio
import pytest
from PIL import Image

from arena.server.host import Host
from arena.server.store.aggregates.counting import refresh
from arena.server.store.queries import Queries
from arena.server.web.pictures.previews import Previews
from tests.server.web.test_pages import get, play


async def test_matches_maps_and_events_have_pictures_and_a_match_a_film(host: Host) -> None:
    (match,) = await play(host, 1)
    status, headers, body = await get(host, f"/picture/match/{match}/2.png")
    assert (status, headers["Content-Type"]) == (200, "image/png")
    assert Image.open(io.BytesIO(body)).format == "PNG"
    pictures = Previews(Queries(host.engine), lambda _match: None)
    await refresh(host.engine)
    for path, kind in {"/picture/event/test.png": "PNG", f"/film/{match}.gif": "GIF"}.items():
        answer = await pictures.answer(path, "192.0.2.1", 0)
        assert answer is not None
        assert answer.status == 200, answer.body
        assert answer.kind == f"image/{kind.lower()}"
        assert Image.open(io.BytesIO(answer.body)).format == kind
    for path in ("/picture/map/none.png", f"/picture/match/{match}/99.png", "/film/none.gif"):
        answer = await pictures.answer(path, "192.0.2.1", 0)
        assert answer is not None
        assert answer.status == 404, path
        assert answer.body.count(b"\n") == 1
    assert await pictures.answer("/picture/x.png", "192.0.2.1", 0) is None


async def test_the_same_picture_is_drawn_once_and_given_to_all(host: Host) -> None:
    pictures = Previews(Queries(host.engine), lambda _match: None)
    found = []
    async with anyio.create_task_group() as tasks:

        async def once() -> None:
            found.append(await pictures.answer("/picture/map/path4.png", "192.0.2.1", 0))

        for _ in range(5):
            tasks.start_soon(once)
    assert len({id(each) for each in found}) == 1


@pytest.mark.parametrize("path", ["/picture/map/world.png", "/picture/arena.png"])
async def test_a_picture_that_takes_too_long_is_given_up(host: Host, path: str) -> None:
    answer = await Previews(Queries(host.engine), lambda _match: None, patience=0.01).answer(
        path, "192.0.2.1", 0
    )
    assert answer is not None
    assert answer.status == 503
