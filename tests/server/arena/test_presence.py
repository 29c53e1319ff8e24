"""server.arena.presence: who is connected where, by what each server says of its own bots."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from arena.protocol.codes import Code
from arena.protocol.messages import Hello
from arena.server.arena.links import Link
from arena.server.arena.messages import Gone, Here
from arena.server.arena.presence import Presence
from arena.server.lobby.accounts import Accounts
from arena.server.lobby.lobby import Lobby
from arena.server.rooms.member import Member
from tests.server.arena.ends import Bot, End, alone, told

NAMES = ("anna", "bert")


def here(name: str, entry: int, session: int = 1, *, again: bool = False, quota: int = 9) -> Here:
    return Here(name, entry, session, Hello(name, quota=quota), guest=False, address="", again=again)


class Known:
    """A lobby that is kept up to date, and what was told of it."""

    def __init__(self, end: End) -> None:
        self.lobby = Lobby(Accounts(anyone=True))
        self.present: set[str] = set()
        self.came: list[tuple[str, bool]] = []
        self.no_more: list[str] = []
        self.presence = Presence(
            end.links,
            self.lobby,
            most_matches=5,
            came=self._came,
            left=self._left,
            no_more=lambda member: self.no_more.append(member.name),
        )

    def _came(self, member: Member, fresh: bool) -> None:
        self.present.add(member.name)
        self.came.append((member.name, fresh))

    def _left(self, member: Member) -> None:
        self.present.remove(member.name)  # who leaves has come before

    @property
    def connected(self) -> dict[str, tuple[int, str]]:
        """By bot, its connection's number and its server."""
        return {
            each.name: (each.entry, each.distant.server)
            for each in self.lobby.connected()
            if each.distant is not None
        }


STEPS = st.tuples(
    st.sampled_from(["here", "again", "gone", "anew", "complete", "lost"]),
    st.integers(0, 1),
    st.sampled_from(NAMES),
    st.integers(1, 4),
)


@given(st.lists(STEPS, max_size=30))
def test_each_bot_is_where_it_was_last_said_to_be(steps: list[tuple[str, int, str, int]]) -> None:
    async def run() -> None:
        end = alone()
        links = [end.to("south"), end.to("west")]
        known = Known(end)
        where: dict[str, tuple[int, str]] = {}
        doubted: dict[str, set[str]] = {}

        def at(link: Link) -> set[str]:
            return {name for name, (_, server) in where.items() if server == link.name}

        for what, number, name, entry in steps:
            link = links[number]
            match what:
                case "here" | "again":
                    known.presence.here(link, here(name, entry, again=what == "again"))
                    doubted.get(link.name, set()).discard(name)
                    if name not in where or where[name][0] <= entry:
                        where[name] = entry, link.name
                case "gone":
                    known.presence.gone(link, Gone(name, entry, None))
                    if where.get(name) == (entry, link.name):
                        del where[name]
                case "anew":
                    known.presence.begin_anew(link)
                    doubted[link.name] = at(link)
                case "complete":
                    known.presence.complete(link)
                    for each in doubted.pop(link.name, set()) & at(link):
                        del where[each]
                case "lost":
                    known.presence.lost(link)
                    doubted.pop(link.name, None)
                    for each in at(link):
                        del where[each]
            assert known.connected == where
            assert known.present == set(where)

    asyncio.run(run())


async def test_a_bot_is_told_of_as_it_introduced_itself_and_known_there_as_it_is_here() -> None:
    end = alone()
    link = end.to("south")
    known, other = Known(end), Known(alone("south"))
    hello = Hello("anna", games=["riskless"], maps=["m2"], pool=False, matches=3, program="p 1", quota=4)
    member = known.lobby.enter(hello, Bot(), "secret", "192.0.2.1")
    member.enter(7, 2)
    known.presence.tell(member, again=False)
    (said,) = told(link)
    assert isinstance(said, Here)
    assert list(known.presence.snapshot()) == [said]
    assert (said.hello.token, said.hello.session) == ("", "")
    other.presence.here(link, said)
    there = other.lobby.member("anna")
    for what in ("entry", "session", "takes", "quota", "capacity", "program", "engine", "address", "guest"):
        assert getattr(there, what) == getattr(member, what), what
    assert list(other.presence.snapshot()) == []  # each server tells of its own bots
    known.presence.tell_gone(member, "no message")
    assert told(link) == [Gone("anna", 7, "no message")]


async def test_a_session_is_new_where_it_began_with_this_connection() -> None:
    end = alone()
    known = Known(end)
    known.presence.here(end.to("south"), here("anna", 4, session=4))
    known.presence.here(end.to("west"), here("anna", 5, session=4))
    assert known.came == [("anna", True), ("anna", False)]


async def test_a_bot_that_takes_no_more_is_asked_nothing_more() -> None:
    end = alone()
    link = end.to("south")
    known = Known(end)
    known.presence.here(link, here("anna", 1, quota=2))
    known.presence.here(link, here("anna", 1, again=True, quota=0))
    assert known.no_more == ["anna"]
    assert known.lobby.member("anna").quota == 0
    assert known.came == [("anna", True)]


async def test_when_a_bot_of_here_has_moved_the_others_are_told_that_its_connection_to_here_has_ended() -> (
    None
):
    """Whoever hears of the move before it hears of the connection of before takes that for the later one else."""
    end = alone()
    link = end.to("south")
    west = end.to("west")
    known = Known(end)
    bot = Bot()
    member = known.lobby.enter(Hello("anna"), bot, "secret")
    member.enter(1, 1)
    known.presence.here(west, here("anna", 2))
    assert bot.dismissed == [Code.REPLACED]
    assert told(link) == [Gone("anna", 1, None)]
    assert known.connected == {"anna": (2, "west")}
    late = Known(alone("east"))
    for told_late in (here("anna", 2), Gone("anna", 2, None)):
        (late.presence.here if isinstance(told_late, Here) else late.presence.gone)(west, told_late)  # type: ignore[arg-type]
    late.presence.here(link, here("anna", 1))
    late.presence.gone(link, Gone("anna", 1, None))
    assert late.connected == {}
