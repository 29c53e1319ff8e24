"""What a client tells of its connection: that it is there, that it is gone, and that it is back; a line for each."""

from __future__ import annotations

import logging
from collections.abc import Callable

from arena.bots.client.options import Options
from arena.protocol.duration import in_words

log = logging.getLogger("arena.client")


class Presence:
    """Whether a client is connected, as far as its owner was told. Times are arguments, in seconds of any clock."""

    def __init__(
        self, options: Options, tell: Callable[[str], None], complain: Callable[[str], None]
    ) -> None:
        self._options = options
        self._tell = tell
        self._complain = complain
        self._away_since: float | None = None
        """Since when there is no connection, once there was one."""

    def lost(self, why: str, now: float, *, playing: int, stopped: bool) -> None:
        """Say that the connection is gone; once, however many attempts follow."""
        if self._away_since is not None:
            log.debug("still away: %s", why)
            return
        self._away_since = now
        waits = ""
        if playing:
            waits = f"; its {_matches(playing)} in play {'will go on when it is back' if stopped else 'wait for it'}"
        tries = self._options.reconnects
        bound = "" if tries is None else f", {tries} times at the most"
        self._complain(f"{why}{waits}; connecting again{bound}")

    def connected(self, now: float, *, playing: int) -> None:
        """Say that the connection is there, or there again."""
        name, url = self._options.name, self._options.url
        if self._away_since is None:
            self._tell(f"{name} is connected to {url}")
            return
        goes_on = f"; {_matches(playing)} in play" if playing else ""
        self._tell(f"{name} is back at {url} after {in_words(now - self._away_since)}{goes_on}")
        self._away_since = None


def _matches(count: int) -> str:
    return f"{count} match{'es' if count > 1 else ''}"
