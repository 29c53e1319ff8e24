from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.games.core import Player
from arena.protocol.codes import EndReason
from arena.protocol.messages import Challenge, Hello
from arena.protocol.timecontrol import TimeControl
from arena.server.lobby.accounts import Accounts
from arena.server.lobby.lobby import Lobby
from arena.server.lobby.matchmaking import answer_window
from arena.server.lobby.matchmaking.answer_window import AnswerWindow
from arena.server.lobby.matchmaking.challenges import Challenges
from arena.server.lobby.matchmaking.matchmaker import Offer
from arena.server.lobby.matchmaking.suspension import FAILURES, FIRST_SECONDS, Suspensions
from arena.server.lobby.matchmaking.waiting import Waiting
from arena.server.rooms.member import Member
from tests.server.lobby.test_lobby import Kept, Wire
from tests.server.matches import game_of

OFFER = Offer(game_of(), TimeControl.parse("1+0"), 100, 1000, "test")
SECOND = 1_000_000_000


class Scene:
    """A lobby of bots to which things happen, and who waits in it."""

    def __init__(self) -> None:
        self.lobby = Lobby(Accounts(anyone=True))
        self.suspensions, self.answer_window = Suspensions(), AnswerWindow()
        self.challenges = Challenges(per_bot=8, seconds=60)
        self.waiting = Waiting(self.lobby, self.suspensions, self.answer_window, self.challenges)
        self.offer: Offer | None = OFFER
        self.now = 100

    def look(self) -> list[str]:
        self.waiting.look(self.offer, self.now, self.now * SECOND)
        return self.waiting.names()

    def scanned(self) -> set[str]:
        """Who is to wait, found by a look at everybody."""
        if self.offer is None:
            return set()
        return {
            member.name
            for member in self.lobby.connected()
            if member.free
            and member.takes.pool
            and not (member.suspended and self.suspensions.holds(member.name, self.now))
            and not (
                member.name in self.challenges.asked
                and self.answer_window.holds(member.name, self.now * SECOND)
            )
            and member.takes.refusal(self.offer.game, self.offer.time_control) is None
        }

    def enter(self, name: str, **hello: object) -> Member:
        return self.lobby.enter(Hello(name, **hello), Wire(), "secret")  # type: ignore[arg-type]

    def happen(self, what: str, name: str, number: int) -> None:
        """Something of that kind to the bot of that name, as the server's parts do it."""
        member = self.lobby.find(name)
        if what == "later":
            self.now += number
        elif what == "offer":
            self.offer = None if number == 0 else OFFER if number == 1 else replace(OFFER, margin_ms=number)
        elif member is None or member.connection is None:
            self.enter(name, matches=1 + number % 2, pool=number != 3, games=["chess"] if number == 5 else [])
        elif what == "leave":
            self.lobby.leave(member, member.connection)
        elif what == "begin" and member.free:
            member.begin(f"match {number}", Kept(), Player.MAXIE)
        elif what == "finish":
            member.finish(f"match {number}")
        elif what == "fail":
            for _ in range(FAILURES):
                why = self.suspensions.note(name, lost=True, reason=EndReason.TIMEOUT, plies=9, now=self.now)
            member.suspend(why)
            member.change()
        elif what == "ask":
            self.challenges.add("rival", Challenge(name), OFFER.game, self.now * SECOND)
            self.answer_window.ask(name, self.now * SECOND)
            member.change()
            if number % 2:
                self.challenges.drop_bot("rival")


KINDS = ["enter", "leave", "begin", "finish", "fail", "ask", "later", "offer"]
HAPPENINGS = st.tuples(st.sampled_from(KINDS), st.sampled_from("abcd"), st.integers(0, 6))


@given(st.lists(st.lists(HAPPENINGS, max_size=4), max_size=30))
def test_whoever_a_look_at_everybody_would_find_waits(rounds: list[list[tuple[str, str, int]]]) -> None:
    scene = Scene()
    for happenings in rounds:
        scene.challenges.drop_bot("rival")  # it may have eight at once
        for happening in happenings:
            scene.happen(*happening)
        assert set(scene.look()) == scene.scanned()
        assert all(scene.lobby.find(name) is not None for name in scene.waiting.names())


def test_whoever_has_waited_longest_is_first() -> None:
    scene = Scene()
    members = {name: scene.enter(name) for name in ("anna", "bert", "carl")}
    assert scene.look() == ["anna", "bert", "carl"]
    members["anna"].begin("m", Kept(), Player.MAXIE)
    assert scene.look() == ["bert", "carl"]
    members["anna"].finish("m")
    assert scene.look() == ["bert", "carl", "anna"]


def test_a_bot_of_many_matches_waits_anew_after_each() -> None:
    scene = Scene()
    anna = scene.enter("anna", matches=2)
    scene.enter("bert")
    scene.look()
    anna.begin("first", Kept(), Player.MAXIE)
    scene.waiting.served("anna")
    assert scene.look() == ["bert", "anna"]
    anna.begin("second", Kept(), Player.MAXIE)
    scene.waiting.served("anna")
    assert "anna" not in scene.waiting
    assert scene.look() == ["bert"]


@pytest.mark.parametrize("kept", ["suspension", "answer window"])
def test_who_is_kept_waits_when_the_time_is_over(kept: str) -> None:
    scene = Scene()
    scene.enter("anna")
    scene.happen("fail" if kept == "suspension" else "ask", "anna", 0)
    assert scene.look() == []
    scene.now += FIRST_SECONDS if kept == "suspension" else answer_window.ANSWER_NS // SECOND
    assert scene.look() == ["anna"]
    assert scene.lobby.member("anna").suspended == ""


def test_a_moment_after_a_look_only_changes_are_followed() -> None:
    scene = Scene()
    scene.enter("anna")
    bert = scene.enter("bert")
    assert scene.look() == ["anna", "bert"]
    bert.begin("m", Kept(), Player.MINNIE)
    scene.waiting.follow(scene.now, scene.now * SECOND)
    assert scene.waiting.names() == ["anna"]


def test_who_comes_back_as_another_is_the_one_that_waits() -> None:
    scene = Scene()
    first = scene.enter("anna")
    assert scene.look() == ["anna"]
    assert first.connection is not None
    scene.lobby.leave(first, first.connection)
    second = scene.enter("anna")
    assert second is not first
    assert scene.look() == ["anna"]
    second.begin("m", Kept(), Player.MAXIE)
    assert scene.look() == []
