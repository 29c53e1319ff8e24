"""server.arena.watching: what is shown of a match elsewhere is the match."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.protocol.codec import encode
from arena.protocol.codes import EndReason
from arena.protocol.messages import End, Played, Pong, Thought, Update, View
from arena.protocol.timecontrol import TimeControl
from arena.protocol.values import Clocks, Players, Seat, Thinking
from arena.server.arena.messages import Ended, Shown, Watching
from arena.server.arena.watching import MOST_UNSHOWN, RemoteWatcher, Watched
from tests.server.arena.ends import alone, linked, told
from tests.server.rooms.test_spectators import Slow

CLOCKS = Clocks(5, 6)
END = End("m", "maxie", EndReason.LINE, "", [], CLOCKS)


def view(*moves: int) -> View:
    mover: Seat = "minnie" if len(moves) % 2 else "maxie"
    played = [Played(move, 1.0) for move in moves]
    control = TimeControl(1000, 0)
    return View("m", "e", "tictactoe", {}, Players("anna", "bert"), control, played, CLOCKS, mover)


STEPS = st.one_of(
    st.tuples(st.just("move"), st.integers(0, 3)),
    st.tuples(st.just("again"), st.integers(0, 3)),
    st.tuples(st.just("gap"), st.integers(1, 3)),
    st.tuples(st.just("thought"), st.integers(0, 12)),
    st.tuples(st.just("view"), st.just(0)),
)


@given(st.lists(STEPS, max_size=15))
def test_the_view_of_a_match_elsewhere_is_the_match_so_far_whatever_is_told_twice_or_missing(
    steps: list[tuple[str, int]],
) -> None:
    async def run() -> None:
        watched = Watched(alone().links, "m")
        moves: list[int] = []
        thoughts: dict[int, int] = {}
        watched.show(Update("m", 0, Played(1, 1.0), CLOCKS))
        before = watched.view  # the whole match has not come yet
        assert before is None
        watched.show(view())
        for what, number in steps:
            match what:
                case "move":
                    watched.show(Update("m", len(moves), Played(number, 1.0), CLOCKS))
                    moves.append(number)
                case "again" if number < len(moves) and not thoughts:
                    last = len(moves) - 1
                    watched.show(Update("m", last, Played(moves[last], 1.0), CLOCKS))
                case "gap":
                    watched.show(Update("m", len(moves) + number, Played(number, 1.0), CLOCKS))
                case "thought":
                    watched.show(Thought("m", number, Thinking(depth=number)))
                    if number < len(moves):
                        thoughts[number] = number
                case "view":
                    watched.show(view(*moves))
                    thoughts.clear()
            shown = watched.view
            assert shown is not None
            assert [each.move for each in shown.moves] == moves
            said = {ply: each.thinking.depth for ply, each in enumerate(shown.moves) if each.thinking}
            assert said == thoughts

    asyncio.run(run())


def test_after_a_move_that_is_told_twice_it_is_still_the_same_players_turn() -> None:
    async def run() -> None:
        watched = Watched(alone().links, "m")
        watched.show(view())
        for _ in range(2):
            watched.show(Update("m", 0, Played(4, 1.0), CLOCKS))
        assert watched.view == view(4)

    asyncio.run(run())


async def test_whoever_has_the_room_is_asked_to_show_it_until_nobody_watches() -> None:
    end = alone()
    south, west = end.to("south"), end.to("west")
    watched = Watched(end.links, "m")
    watched.owned_by(south)
    watched.lost()
    watched.leave()  # there is nobody to be told
    watched.owned_by(west)
    watched.leave()
    assert told(south) == [Watching("m", on=True)]
    assert told(west) == [Watching("m", on=True), Watching("m", on=False)]


@pytest.mark.parametrize("known", [True, False])
async def test_who_watches_is_told_the_end_and_before_it_the_match_if_it_is_known(known: bool) -> None:
    watched, eve = Watched(alone().links, "m"), Slow()
    watched.spectators.enter(eve)
    watches = not watched.idle
    if known:
        watched.show(view(4))
    watched.show(END)
    assert eve.heard() == ([view(4), END] if known else [END])
    assert (watches, watched.idle, watched.spectators.closed) == (True, True, True)


async def test_where_nobody_knows_how_a_match_ended_its_spectators_are_left() -> None:
    watched, eve = Watched(alone().links, "m"), Slow()
    watched.show(view(4))
    watched.spectators.enter(eve)
    watched.close()
    assert (eve.heard(), watched.spectators.closed) == ([], True)


async def test_a_server_where_somebody_watches_is_shown_what_spectators_are_told() -> None:
    end = alone()
    link = end.to("south")
    lives = True
    watcher = RemoteWatcher(end.links, link, "m", lambda: lives)
    shown: list[View | Update | Thought | End] = [
        view(),
        Update("m", 0, Played(4, 1.0), CLOCKS),
        Thought("m", 0, Thinking(depth=2)),
        END,
    ]
    watcher.tell_encoded([encode(each) for each in [*shown, Pong()]])
    assert told(link) == [Shown("m", each) for each in shown]
    with pytest.raises(RuntimeError, match="no message"):
        watcher.tell_encoded([b"\xff"])
    lives = False
    watcher.tell_encoded([encode(END)])
    assert told(link) == []
    assert watcher.affords(10**9)


async def test_a_server_that_does_not_answer_is_shown_the_whole_match_later_as_a_spectator_that_reads_slowly() -> (
    None
):
    async with linked("north", "south") as (north, _):
        end = alone()
        silent, heard = end.to("south"), north.links.all[0]
        for links, link in ((end.links, silent), (north.links, heard)):
            watcher = RemoteWatcher(links, link, "m", lambda: True)
            assert watcher.backlog == 0
            for _ in range(MOST_UNSHOWN + 1):
                links.send(link, Ended("x"))
            assert (watcher.backlog > 0) is (link is silent)
