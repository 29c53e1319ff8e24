from html.parser import HTMLParser
from uuid import UUID

from arena.ladder.ladder import Ladder
from arena.ladder.plan import LadderPlan, make_bot_names_unique, make_engine_bot_plan
from arena.ladder.reports.html_report import find_upset_matches, render_report
from arena.protocol.codes import EndReason
from arena.rating.standings import make_standings
from tests.rating.pairs import make_round_robin
from tests.server.matches import game_of, record

EVIL = "<script>alert(1)</script>"


class Reader(HTMLParser):
    """Parser that collects the tags of a page and their references, and checks that all are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in {"src", "href", "srcset"}]
        if tag not in {"meta", "input"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def ladder() -> Ladder:
    plan = LadderPlan(
        make_bot_names_unique((make_engine_bot_plan("anna"), make_engine_bot_plan(EVIL))),
        event_name="<spring>",
        game="tictactoe",
    )
    ladder = Ladder(plan, [game_of()])
    ladder.build_schedule(UUID(int=1))
    for number, pairing in enumerate(
        each for pair in make_round_robin(ladder.bot_names, 3, 1, 0) for each in pair.make_pairings()
    ):
        won = "maxie" if (pairing.maxie == "anna") != (number == 5) else "minnie"
        finished = record(
            str(number),
            maxie=pairing.maxie,
            minnie=pairing.minnie,
            moves=[0, 3, 1, 4, 2],
            winner=won,  # type: ignore[arg-type]
            reason=EndReason.LINE,
        )
        ladder.played_matches.append((pairing, finished))
    return ladder


def test_the_page_is_valid_and_loads_no_other_file() -> None:
    text = render_report(ladder(), ())
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    assert reader.links == []
    assert "http" not in text
    assert reader.tags.count("script") == 1, "what comes from the network is text"
    assert "alert(1)" in text
    assert reader.tags.count("circle") == 2
    assert reader.tags.count("pre") == 6 * (3 + 1 + 4), (
        "three longest, one surprise and two uneven pairs, each with six positions"
    )


def test_a_surprise_is_a_win_of_the_weaker_bot() -> None:
    finished_ladder = ladder()
    rows = make_standings(finished_ladder.bot_names, finished_ladder.records)
    assert [each.match for each in find_upset_matches(rows, finished_ladder.records)] == ["5"]


def test_a_ladder_without_matches_has_a_page_too() -> None:
    finished_ladder = ladder()
    finished_ladder.played_matches.clear()
    reader = Reader()
    reader.feed(render_report(finished_ladder, ()))
    assert reader.open == []
