"""Somebody on the wire beside the page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import msgpack
from playwright.sync_api import Page, expect
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from arena.protocol.messages import SUBPROTOCOL
from testkit.browser import BrowserArena


class Guest:
    """Somebody who plays the house from an address, without a page."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    @classmethod
    @contextmanager
    def at(cls, url: str, name: str, source: str, session: str = "") -> Iterator[Self]:
        """A guest who is in; by its session it comes back."""
        options: Any = {"source_address": (source, 0), "open_timeout": 150, "ping_interval": None}
        with connect(url, subprotocols=[Subprotocol(SUBPROTOCOL)], compression=None, **options) as socket:
            guest = cls(socket)
            guest.say(type="hello", name=name, session=session)
            yield guest

    def say(self, **message: object) -> None:
        self._socket.send(msgpack.packb(message))

    def hear(self, kind: str) -> dict[str, Any]:
        """The next message of this kind."""
        while True:
            message: dict[str, Any] = msgpack.unpackb(self._socket.recv(timeout=500, decode=False))
            if message["type"] == kind:
                return message

    def challenge(self, opponent: str, game: str = "tictactoe", map_name: str = "") -> None:
        clock = {"base_ms": 300_000, "increment_ms": 3_000, "per_move": False}
        chosen = {"game": game, "map": map_name}
        self.say(type="challenge", opponent=opponent, rated=False, time_control=clock, **chosen)

    def begin(self) -> str:
        """Be ready for the next match; its id."""
        match: str = self.hear("start")["match"]
        self.say(type="ready", match=match)
        return match


@contextmanager
def against(arena: BrowserArena, page: Page, name: str, game: str) -> Iterator[tuple[Guest, str]]:
    """A match of the page, as Maxie, against somebody who moves when the test says so; the match's id."""
    with Guest.at(arena.url.replace("http", "ws", 1), name, "127.0.0.7") as guest:
        page.goto(f"{arena.url}#/play/{name}")
        page.get_by_label("Game").select_option(game)
        if game == "riskless":
            page.locator("[name=map][value=path4]").check()
        page.get_by_label("You play").select_option("maxie")
        page.get_by_role("button", name="Start the match").click()
        guest.say(type="accept", challenge=guest.hear("challenged")["challenge"])
        match = guest.begin()
        expect(page.locator(".status").first).to_contain_text("Your turn")
        yield guest, match
