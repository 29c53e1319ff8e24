"""server.arena.elsewhere: the matches of other servers, and whose players they take."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.games.core import Player
from arena.match.events import GotReady
from arena.protocol.codes import Code, EndReason
from arena.protocol.messages import End as EndMessage
from arena.protocol.messages import Error, LiveMatch, Standing, Turn
from arena.protocol.timecontrol import TimeControl
from arena.protocol.values import Clocks, Players
from arena.server.arena.elsewhere import Elsewhere
from arena.server.arena.links import Link
from arena.server.arena.messages import Did, Ended, Kept, Opened, Overdue, Told, Watching
from arena.server.arena.remote import RemoteSeat
from arena.server.lobby.accounts import Accounts
from arena.server.lobby.lobby import Lobby
from arena.server.lobby.matchmaking.outcome import Outcome
from arena.server.rooms.member import Member
from tests.server.arena.ends import Bot, End, alone, told
from tests.server.matches import terms

PLAYERS = Players("anna", "bert")
MATCHES = ("m", "n")


def live(match: str) -> LiveMatch:
    return LiveMatch(match, "serve", "tictactoe", PLAYERS, TimeControl(1000, 0), 0)


def opened(match: str, weight: int = 1) -> Opened:
    return Opened(live(match), anew=True, weight=weight)


def kept(match: str) -> Kept:
    return Kept(match, PLAYERS, "maxie", EndReason.LINE, 5, (True, True))


class Known:
    """The matches of other servers as a server with two bots of its own knows them."""

    def __init__(self, end: End) -> None:
        self.lobby = Lobby(Accounts(anyone=True))
        self.outcomes: list[str] = []
        self.ends: list[tuple[str, str]] = []
        self.bots = {name: Bot() for name in ("anna", "bert")}
        for name, bot in self.bots.items():
            self.lobby.member(name).connect(bot)
            self.lobby.member(name).enter(3, 1)
        self.elsewhere = Elsewhere(
            end.links,
            self.lobby,
            {},
            outcome=self._outcome,
            tell_end=lambda _connection, name, match: self.ends.append((name, match)),
            weigh=lambda _terms: 1,
        )

    def _outcome(self, outcome: Outcome, live: LiveMatch) -> None:
        assert (outcome.match, outcome.players) == (live.match, live.players)
        self.outcomes.append(outcome.match)

    @property
    def anna(self) -> Member:
        return self.lobby.member("anna")


@dataclass
class State:
    """A match as it ought to be known."""

    owner: str | None
    opened: bool = True
    over: bool = False


STEPS = st.tuples(
    st.sampled_from(
        ["place", "opened", "opened", "ended", "kept", "anew", "complete", "lost", "unplaced", "resolve"]
    ),
    st.integers(0, 1),
    st.sampled_from(MATCHES),
    st.booleans(),
)


@given(st.lists(STEPS, max_size=30))
@example(
    [("opened", 0, "m", False), ("ended", 0, "m", False), ("opened", 0, "m", False), ("kept", 0, "m", False)]
)
@example(
    [("opened", 0, "m", False), ("ended", 0, "m", False), ("lost", 0, "m", False), ("opened", 1, "m", False)]
)
def test_players_are_in_the_matches_that_are_said_to_be_in_progress_and_in_no_others(  # noqa: C901
    steps: list[tuple[str, int, str, bool]],
) -> None:
    async def run() -> None:  # noqa: C901  one branch for each step
        end = alone()
        links = [end.to("south"), end.to("west")]
        known = Known(end)
        elsewhere = known.elsewhere
        model: dict[str, State] = {}
        doubted: dict[str, set[str]] = {}
        outcomes: list[str] = []
        ends: list[tuple[str, str]] = []

        def of(link: Link, *, placed: bool) -> list[str]:
            return [name for name, s in model.items() if s.owner == link.name and s.opened is not placed]

        for what, number, match, flag in steps:
            link = links[number]
            state = model.get(match)
            theirs = state is not None and state.owner in (link.name, None)
            match what:
                case "place":
                    if state is None:
                        elsewhere.place(link, replace(terms(), match=match, players=PLAYERS))
                        model[match] = State(link.name, opened=False)
                case "opened":
                    elsewhere.opened(link, opened(match))
                    doubted.get(link.name, set()).discard(match)
                    model[match] = State(link.name)
                case "ended":
                    elsewhere.ended(link, Ended(match))
                    if state is not None and theirs:
                        if state.opened and not state.over:
                            ends += [("anna", match), ("bert", match)]
                        state.over = True
                        if not state.opened:
                            del model[match]
                case "kept":
                    elsewhere.kept(link, kept(match))
                    if state is not None and theirs:
                        if state.opened and not state.over:
                            ends += [("anna", match), ("bert", match)]
                        del model[match]
                        outcomes.append(match)
                case "anew":
                    elsewhere.begin_anew(link)
                    doubted[link.name] = set(of(link, placed=False))
                case "complete":
                    elsewhere.complete(link)
                    for each in doubted.pop(link.name, set()) & {
                        *of(link, placed=False),
                        *of(link, placed=True),
                    }:
                        model[each].owner = None
                case "lost" | "unplaced":
                    (elsewhere.lost if what == "lost" else elsewhere.forget_placed)(link)
                    for each in of(link, placed=True):
                        del model[each]
                    if what == "lost":
                        doubted.pop(link.name, None)
                        for each in of(link, placed=False):
                            model[each].owner = None
                case "resolve":
                    homeless = elsewhere.homeless
                    assert homeless == [name for name, s in model.items() if s.owner is None]
                    elsewhere.resolve(homeless, dict.fromkeys(homeless, "east" if flag else None))
                    for each in [] if flag else homeless:
                        if not model.pop(each).over:
                            ends += [("anna", each), ("bert", each)]
            going_on = {name for name, s in model.items() if not s.over}
            assert {name for name in MATCHES if name in elsewhere} == set(model)
            assert {name for name in MATCHES if elsewhere.distant(name)} == going_on
            assert {each.match for each in elsewhere.listed()} == going_on
            assert elsewhere.weight == len(going_on)
            assert len(elsewhere) == len(model)
            for name in ("anna", "bert"):
                assert set(known.lobby.member(name).matches) == going_on
            assert known.outcomes == outcomes
            assert known.ends == ends

    asyncio.run(run())


async def test_what_a_player_says_goes_to_whoever_has_the_room_and_again_to_whoever_has_it_next() -> None:
    end = alone()
    south, west = end.to("south"), end.to("west")
    known = Known(end)
    known.elsewhere.opened(south, opened("m"))
    seat, player = known.anna.matches["m"]
    assert player is Player.MAXIE
    seat.take(GotReady(player), 0)
    ready = Did("m", 3, GotReady(player), 0, 0)
    assert told(south) == [ready]
    known.elsewhere.lost(south)
    known.elsewhere.opened(west, opened("m"))
    assert told(west) == [ready]


async def test_a_player_is_told_only_by_who_has_the_room_and_only_on_the_connection_that_is_meant() -> None:
    end = alone()
    south, west = end.to("south"), end.to("west")
    known = Known(end)
    heard = known.bots["anna"].heard
    known.elsewhere.opened(south, opened("m"))
    turn = Turn("m", 0, [], Clocks(1, 1), 0)
    known.elsewhere.tell(west, Told("anna", 3, turn, 0))
    known.elsewhere.tell(south, Told("anna", 2, turn, 0))
    known.elsewhere.tell(south, Told("emil", 3, turn, 0))
    assert heard == []
    known.elsewhere.tell(south, Told("anna", 3, turn, 0))
    standing = Standing("idle", "", None)
    about = Error(Code.BAD_CHALLENGE, "of no match")
    for message in (standing, about):
        known.elsewhere.tell(west, Told("anna", 3, message, 0))
    assert heard == [turn, standing, about]


async def test_who_was_told_the_end_by_nobody_is_told_it_from_the_store() -> None:
    end = alone()
    south = end.to("south")
    known = Known(end)
    known.elsewhere.opened(south, opened("m"))
    over = EndMessage("m", "maxie", EndReason.LINE, "three in a line", [], Clocks(0, 0))
    known.elsewhere.tell(south, Told("anna", 3, over, 0))
    known.elsewhere.tell(south, Told("bert", 2, over, 0))  # on a connection of before
    known.elsewhere.ended(south, Ended("m"))
    known.elsewhere.kept(south, kept("m"))
    assert known.bots["anna"].heard == [over]
    assert known.ends == [("bert", "m")]


async def test_only_who_has_the_room_may_ask_whether_a_time_is_over() -> None:
    end = alone()
    south, west = end.to("south"), end.to("west")
    known = Known(end)
    known.elsewhere.opened(south, opened("m"))
    known.elsewhere.tell(south, Told("anna", 3, Turn("m", 0, [], Clocks(1, 1), 0), 10))
    for link, entry in ((west, 3), (south, 2), (south, 3)):
        known.elsewhere.overdue(link, Overdue("m", Player.MAXIE, entry, 0, 10))
    await asyncio.sleep(0.01)
    assert [len(told(link)) for link in (south, west)] == [1, 0]


async def test_how_far_a_match_is_says_who_has_it() -> None:
    end = alone()
    south, west = end.to("south"), end.to("west")
    known = Known(end)
    known.elsewhere.opened(south, opened("m"))
    known.elsewhere.plies(west, {"m": 9})
    known.elsewhere.plies(south, {"m": 4, "unknown": 2})
    assert [each.ply for each in known.elsewhere.listed()] == [4]


async def test_a_match_is_shown_as_long_as_somebody_watches_it_by_whoever_has_it() -> None:
    end = alone()
    south, west = end.to("south"), end.to("west")
    known = Known(end)
    assert known.elsewhere.spectators("m") is None
    known.elsewhere.opened(south, opened("m"))
    spectators = known.elsewhere.spectators("m")
    assert spectators is not None
    assert known.elsewhere.spectators("m") is spectators
    assert told(south) == [Watching("m", on=True)]
    known.elsewhere.lost(south)
    known.elsewhere.opened(west, opened("m"))
    assert told(west) == [Watching("m", on=True)]
    known.elsewhere.drop_unwatched()
    assert told(west) == [Watching("m", on=False)]
    assert known.elsewhere.view("m") is None
    known.elsewhere.ended(west, Ended("m"))
    assert known.elsewhere.spectators("m") is None


async def test_a_match_that_is_played_here_now_is_known_no_more_and_its_players_stay_in_it() -> None:
    end = alone()
    south = end.to("south")
    known = Known(end)
    known.elsewhere.opened(south, opened("m"))
    taken = known.elsewhere.take("m")
    assert taken is not None
    assert taken.seats[Player.MAXIE] is known.anna.matches["m"][0]
    assert isinstance(taken.seats[Player.MINNIE], RemoteSeat)
    assert "m" not in known.elsewhere
    assert known.elsewhere.take("m") is None
