"""Texts that a client shows to the bot's owner: about its connection, its ratings and its results."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

from arena.bots.api.bot import Ending, Match, SeatOutcome
from arena.bots.client.settings import ClientSettings
from arena.bots.client.state.actions import ReportStatus
from arena.protocol.timecontrol import format_duration
from arena.rating.glicko import GlickoRating

log = logging.getLogger("arena.client")


class StatusReporter:
    """Reporter that tells the bot's owner about the client's connection, and the bot's state and ratings.

    The caller passes in all times, as seconds of one monotonic clock.
    """

    def __init__(
        self, settings: ClientSettings, on_status: Callable[[str], None], on_problem: Callable[[str], None]
    ) -> None:
        self._settings = settings
        self._on_status = on_status
        self._on_problem = on_problem
        self._disconnected_at: float | None = None
        """Time (monotonic seconds) at which the connection was lost; None while the client is connected, and before its first connection."""
        self._ratings: dict[str, float] = {}
        """Ratings of the bot that were reported last, by game."""
        self._last_state = "", ""
        """State and one-line description in the bot's last status; both empty before the first status."""

    def report_status(self, status: ReportStatus) -> None:
        """Report the bot's changed ratings, and its state if it has changed.

        The states `playing` and `finishing`, which a bot has while it plays, are not reported.
        """
        self._report_ratings(status)
        table_text = (
            f"; its table: {make_website_url(self._settings.url)}{status.final_table_path}"
            if status.final_table_path
            else ""
        )
        state = status.state, f"{status.detail}{table_text}"
        if state != self._last_state and status.state not in ("playing", "finishing"):
            self._on_status(f"{self._settings.name}: {state[1]}")
        self._last_state = state

    def _report_ratings(self, status: ReportStatus) -> None:
        """Report each rating that is new, or differs from the last reported one by more than half a point.

        The rating deviation is left out if the server does not send it.
        """
        if status.ratings_by_game is None:
            return
        reported_ratings = dict(status.ratings_by_game)  # empty if a new season has begun
        for game, rating in sorted(status.ratings_by_game.items()):
            earlier_rating = self._ratings.get(game)
            if earlier_rating is not None and round(rating - earlier_rating) == 0:
                reported_ratings[game] = earlier_rating
                continue
            deviation = status.rating_deviations_by_game.get(game)
            text = f"{rating:.0f}" if deviation is None else GlickoRating(rating, deviation)
            change_text = (
                f"; its page: {self._bot_page_url}"
                if earlier_rating is None
                else f" ({rating - earlier_rating:+.0f})"
            )
            self._on_status(f"{self._settings.name} is rated {text} in {game}{change_text}")
        self._ratings = reported_ratings

    @property
    def _bot_page_url(self) -> str:
        return f"{make_website_url(self._settings.url)}/bot/{quote(self._settings.name, safe='')}"

    def report_disconnected(
        self, reason: str, now: float, *, match_count: int, is_server_stopping: bool
    ) -> None:
        """Report that the connection was lost, and why. Failed attempts to reconnect are only logged.

        match_count         number of matches in play
        is_server_stopping  True if the server announced its shutdown
        """
        if self._disconnected_at is not None:
            log.debug("still away: %s", reason)
            return
        self._disconnected_at = now
        wait_text = ""
        if match_count:
            wait_text = f"; {_format_match_count(match_count)} in play {'will resume when the server is back' if is_server_stopping else 'continue'}"
        max_attempts = self._settings.max_reconnect_attempts
        attempts_text = "" if max_attempts is None else f", at most {max_attempts} times"
        self._on_problem(f"{reason}{wait_text}; connecting again{attempts_text}")

    def report_connected(self, now: float, *, match_count: int) -> None:
        """Report that the client is connected, or connected again. `match_count`: number of matches in play."""
        name, url = self._settings.name, self._settings.url
        matches_text = f"; {_format_match_count(match_count)} in play" if match_count else ""
        if self._disconnected_at is None:
            self._on_status(f"{name} is connected to {url}{matches_text}")
            return
        self._on_status(
            f"{name} is back at {url} after {format_duration(now - self._disconnected_at)}{matches_text}"
        )
        self._disconnected_at = None


def _format_match_count(count: int) -> str:
    return f"{count} match{'es' if count > 1 else ''}"


@dataclass
class ResultCounts:
    """Numbers of this client's finished matches, by the outcome for the bot. A `void` match counts for neither player."""

    won: int = 0
    drawn: int = 0
    lost: int = 0
    void: int = 0

    def add_outcome(self, outcome: SeatOutcome) -> None:
        """Count one more match, with this outcome for the bot."""
        setattr(self, outcome, getattr(self, outcome) + 1)

    def __str__(self) -> str:
        void = f", {self.void} void" if self.void else ""
        return f"{self.won} won, {self.drawn} drawn, {self.lost} lost{void}"


def make_website_url(websocket_url: str) -> str:
    """Return the URL of a server's website (http or https), given the server's websocket URL."""
    return websocket_url.replace("ws", "http", 1).rstrip("/")


def format_match_result(match: Match, ending: Ending, server_url: str = "") -> str:
    """Return a finished match as one line. For a lost match, the line includes the URL of the match's page.

    server_url  websocket URL of the server; empty to leave out the page's URL
    """
    game = f"{match.game.name} as {match.seat} against {match.opponent}"
    outcome = ending.outcome_for(match.seat)
    page = f": {make_website_url(server_url)}/match/{match.id}" if server_url and outcome == "lost" else ""
    return f"match {match.id:.8}: {game}: {outcome} ({ending}){page}"
