"""server.rooms.reach: no deadline is judged that something on its way might still meet."""

from __future__ import annotations

from arena.games.core import Player
from arena.match.clock import MS
from arena.match.events import GotReady, Moved, Opened, TurnLeft
from arena.match.referee import Referee
from arena.protocol.codes import Code
from arena.protocol.messages import ServerMessage
from arena.server.rooms.member import DistantConnection, Member
from arena.server.rooms.reach import Reach, Verdict
from tests.server.matches import terms
from tests.server.refereed import MAXIE, MINNIE, started


class Distant(DistantConnection):
    """A connection to another server, of which a test says what it knows."""

    def __init__(self) -> None:
        self.heard = True
        self.waited = False
        self.asked: list[tuple[Player, int, int]] = []

    @property
    def lag(self) -> int:
        return 0

    @property
    def server(self) -> str:
        return "elsewhere"

    @property
    def reachable(self) -> bool:
        return self.heard

    def tell(self, message: ServerMessage) -> None:
        """Nothing is told in these tests."""

    def ask(self, message: ServerMessage, ran: int) -> None:
        """Nothing is told in these tests."""

    def dismiss(self, code: Code) -> None:
        """Nobody is dismissed in these tests."""

    def has_waited(self, match: str, player: Player, ply: int, allowed: int) -> bool:
        self.asked.append((player, ply, allowed))
        return self.waited


def test_who_is_connected_elsewhere_is_flagged_only_when_its_server_has_waited_as_long() -> None:
    referee, distant = started(tc="1+0"), Distant()
    reach = Reach({MAXIE: Member("anna", connection=distant), MINNIE: Member("bert")}, lambda: True)
    assert reach.look(referee, 1050 * MS) is Verdict.WAIT
    assert distant.asked == [(MAXIE, 0, 1050 * MS)]
    distant.waited = True
    assert reach.look(referee, 1050 * MS) is Verdict.JUDGE


def test_who_is_connected_elsewhere_is_missing_only_when_its_server_has_waited_as_long() -> None:
    referee, anna, bert = Referee(terms(ready=1000)), Distant(), Distant()
    referee.handle(Opened(), 5 * MS)
    reach = Reach(
        {MAXIE: Member("anna", connection=anna), MINNIE: Member("bert", connection=bert)}, lambda: True
    )
    assert reach.look(referee, 1005 * MS) is Verdict.WAIT
    assert [each.asked for each in (anna, bert)] == [[(MAXIE, 0, 1000 * MS)], [(MINNIE, 0, 1000 * MS)]]
    anna.waited = True
    assert reach.look(referee, 1005 * MS) is Verdict.WAIT
    referee.handle(GotReady(MINNIE), 6 * MS)
    assert reach.look(referee, 1005 * MS) is Verdict.JUDGE
    assert len(bert.asked) == 2, "who is ready is not asked"


def test_the_turn_of_who_is_connected_here_is_judged_at_once() -> None:
    referee, distant = started(tc="1+0"), Distant()
    reach = Reach({MAXIE: Member("anna"), MINNIE: Member("bert", connection=distant)}, lambda: True)
    assert reach.look(referee, 1050 * MS) is Verdict.JUDGE
    assert distant.asked == []


def test_while_a_player_cannot_be_reached_the_match_stands_still_and_then_the_turn_begins_anew() -> None:
    referee, distant = started(tc="1+0"), Distant()
    reach = Reach({MAXIE: Member("anna"), MINNIE: Member("bert", connection=distant)}, lambda: True)
    distant.heard = False
    assert reach.look(referee, 1050 * MS) is Verdict.WAIT
    assert reach.held
    distant.heard = True
    assert reach.look(referee, 1050 * MS) is Verdict.GO_ON
    assert reach.look(referee, 1050 * MS) is Verdict.JUDGE


def test_a_move_that_came_meanwhile_is_no_reason_to_begin_its_turn_anew() -> None:
    referee, distant = started(tc="1+0"), Distant()
    reach = Reach({MAXIE: Member("anna"), MINNIE: Member("bert", connection=distant)}, lambda: True)
    distant.heard = False
    assert reach.look(referee, 1050 * MS) is Verdict.WAIT
    distant.heard = distant.waited = True
    referee.handle(Moved(MAXIE, 0, 4), 10 * MS)
    referee.handle(TurnLeft(1), 10 * MS)
    assert reach.look(referee, 1060 * MS) is Verdict.JUDGE


def test_nobody_is_judged_away_while_somebody_may_be_connected_where_nothing_is_heard() -> None:
    referee, whole = started(tc="1+0"), [False]
    reach = Reach({MAXIE: Member("anna"), MINNIE: Member("bert")}, lambda: whole[0])
    assert reach.look(referee, 1050 * MS) is Verdict.WAIT
    whole[0] = True
    assert reach.look(referee, 1050 * MS) is Verdict.GO_ON
