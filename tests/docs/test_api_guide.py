"""docs/api.md against the answers of a server: each path, each interface, each field."""

from __future__ import annotations

import base64
import json
import re
from functools import partial
from typing import Any
from urllib.parse import quote

import anyio
import pytest
from msgspec.structs import replace

from arena.games.catalogue import CATALOGUE
from arena.games.riskless import Riskless
from arena.maps.game_on_map import make_game_on_map
from arena.maps.loader import list_built_in_map_names, load_map
from arena.protocol.engines import EngineInfo
from arena.protocol.record import format_record_line
from arena.rating.formats import make_format
from arena.rating.schedule import Schedule
from arena.server.core.inputs import AnnounceTournament
from arena.server.host import ArenaServer, open_arena_server
from arena.server.settings import make_private_server_settings
from arena.server.store import tokens
from arena.server.store.aggregates.season_closing import close_season
from arena.server.store.database import run_in_transaction
from arena.server.store.invitations import create_invitations
from arena.server.store.ladders import claim_ladder
from arena.server.store.stored_requests import send_request_via_store
from arena.server.web.analysis import analyse_position, review_match
from arena.server.web.event_progress import EventProgress, SprtProgress, UnplayedMatch
from arena.server.web.routes import ROUTES, find_route_key, parse_request_target
from tests.docs.pages import text_of
from tests.games.own import EXAMPLES
from tests.match.recorded import random_record
from tests.server.matches import spec
from tests.server.peer import enter
from tests.server.web.test_event_calendar import CUP_PLAN
from tests.server.web.test_web_app import get

PAGE = "docs/api.md"
QUESTION = re.compile(r"`(?:GET|POST) (/api/[^`…]*)`")
TOKEN = re.compile(r'\s*(//.*|[A-Za-z_]\w*|"[^"]*"|\S)')


class Guide:
    """The types in the guide's blocks, and the question that each answers."""

    def __init__(self, text: str) -> None:
        self._tokens: list[str] = []
        self.types: dict[str, list[Any]] = {}
        self.questions: dict[str, str] = {}
        """Name of a type by question, as `/api/table?event=NAME`."""
        self.met: set[str] = set()
        """Named types that a value was compared with."""
        for prose, block in re.findall(r"(.*?)^```ts\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            self._tokens = [each for each in TOKEN.findall(block) if not each.startswith("//")]
            first = ""
            while self._tokens:
                kind, name = self._take(), self._take()
                if kind == "type":
                    self._take("=")
                self.types[name] = self._union()
                if kind == "type":
                    self._take(";")
                first = first or name
            self.questions |= dict.fromkeys(QUESTION.findall(prose), first)

    def _take(self, wanted: str = "") -> str:
        token = self._tokens.pop(0)
        assert not wanted or token == wanted, f"{token} is not {wanted}"
        return token

    def _union(self) -> list[Any]:
        types = [self._one()]
        while self._tokens and self._tokens[0] == "|":
            self._take("|")
            types.append(self._one())
        return types

    def _one(self) -> Any:
        token = self._take()
        found: Any = token
        if token == "{":
            found = {}
            while self._tokens[0] != "}":
                name = self._take()
                optional = self._tokens[0] == "?" and bool(self._take())
                self._take(":")
                found[name] = optional, self._union()
                if self._tokens[0] == ";":
                    self._take()
            self._take("}")
        elif token == "Record":
            for each in ("<", "string", ","):
                self._take(each)
            found = ("by name", self._union())
            self._take(">")
        while self._tokens and self._tokens[0] == "[":
            self._take("[")
            self._take("]")
            found = ("list", [found])
        return found

    def wrong(self, value: Any, union: list[Any], at: str) -> str:
        """Return where a value is none of these types; empty where it is one."""
        errors = [self._is_not(value, each, at) for each in union]
        return "" if "" in errors else errors[-1]

    def _is_not(self, value: Any, kind: Any, at: str) -> str:
        match kind:
            case ("list", each) if isinstance(value, list):
                return next(
                    filter(None, (self.wrong(v, each, f"{at}[{n}]") for n, v in enumerate(value))), ""
                )
            case ("by name", each) if isinstance(value, dict):
                return next(filter(None, (self.wrong(v, each, f"{at}.{n}") for n, v in value.items())), "")
            case dict() if isinstance(value, dict):
                if unknown := value.keys() - kind.keys():
                    return f"{at}: {sorted(unknown)} is not in the guide"
                if missing := {name for name, (optional, _) in kind.items() if not optional} - value.keys():
                    return f"{at}: {sorted(missing)} is missing"
                return next(
                    filter(None, (self.wrong(v, kind[n][1], f"{at}.{n}") for n, v in value.items())), ""
                )
            case str() if kind in self.types:
                told = self.wrong(value, self.types[kind], at)
                if not told:
                    self.met.add(kind)
                return told
        plain = {
            "string": isinstance(value, str),
            "boolean": isinstance(value, bool),
            "number": isinstance(value, int | float) and not isinstance(value, bool),
            "null": value is None,
            "unknown": True,
        }
        fits = isinstance(kind, str) and plain.get(kind, json.dumps(value) == kind)
        return "" if fits else f"{at} is no {kind}: {value!r:.60}"


PLAN: dict[str, Any] = {
    "game": "tictactoe",
    "maps": [],
    "setups": [{}],
    "bots": {"anna": "", "bert": "random"},
    "rounds": 1,
    "time control": "2+0.1",
    "seed": 1,
}
LIVE = EventProgress(
    *("live", "match", "tictactoe", [], "round-robin", 2, "1+0", {"a": ""}, 1, 4),
    unplayed_matches=[UnplayedMatch("a", "b", "", 1)],
    sprt=SprtProgress(0.0, 5.0, "logistic", 0.1, -2.9, 2.9, "open", 3),
)
PATH4 = Riskless(load_map("path4"))


async def play(host: ArenaServer) -> str:
    """Play a match of a knockout, one of a Swiss, and a rated one on a solved map. Return the id of that."""
    requests = []
    for format in ("knockout", "swiss"):
        plan = PLAN | {"format": format}
        ladder = await claim_ladder(host.db_engine, "elsewhere", "ladder", format, "auto", plan)
        schedule = Schedule(ladder.uid.hex, make_format(format, ["anna", "bert"], 1, 1, 1))
        first = schedule.list_startable_pairings()[0]
        terms = replace(
            spec(first.maxie, first.minnie), match=schedule.make_next_match_id(first), event=format
        )
        requests.append(terms)
    last = replace(spec("anna", "bert"), game=PATH4, rated=True)
    engine = EngineInfo("random", {"seed": "1"}, 1)
    async with enter(host, "anna", engine=engine) as anna, enter(host, "bert") as bert:
        for terms in (*requests, last):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(anna.play, terms.game)
                tasks.start_soon(bert.play, terms.game)
                await host.shell.play_match(terms)
    await run_in_transaction(host.db_engine, partial(close_season, season_name="spring"))
    return last.match


def test_the_guide_has_every_path_and_its_parameters() -> None:
    text, guide = text_of(PAGE), Guide(text_of(PAGE))
    queries = [parse_request_target(re.sub(r"=[A-Z]+", "=1", question)) for question in guide.questions]
    paths = {path for path in ROUTES if path.startswith("/api/")}
    assert {asked.route_key for asked in queries if asked is not None} == paths
    for path in paths:
        words = (ROUTES[path].allowed_parameters or "").replace("!", "").split()
        assert [word for word in words if not re.search(rf"[`?&]{word}[`=]", text)] == [], path


@pytest.mark.slow
async def test_every_answer_has_the_fields_that_the_guide_tells() -> None:
    guide, game = Guide(text_of(PAGE)), CATALOGUE.register_game(str(EXAMPLES / "connect4.py"))
    async with open_arena_server(
        make_private_server_settings(), find_event_progress=lambda event: LIVE if event == "live" else None
    ) as host:
        match = await play(host)
        assert await send_request_via_store(
            host.db_engine,
            "",
            AnnounceTournament(replace(CUP_PLAN, start_unix_s=2_000_000_000, closing_unix_s=2_000_000_000)),
        )
        asked = {
            "/api/about": ["/api/about"],
            "/api/table": ["/api/table"],
            "/api/table?map=MAP&tc=TC&season=NAME": ["/api/table?tc=1%2B0", "/api/table?season=spring"],
            "/api/table?event=NAME": ["/api/table?event=knockout", "/api/table?event=swiss"],
            "/api/table.csv?event=NAME": [],
            "/api/event?name=NAME": [f"/api/event?name={name}" for name in ("live", "knockout", "test")],
            "/api/bot?name=NAME": ["/api/bot?name=anna"],
            "/api/bot/NAME": ["/api/bot/anna"],
            "/api/versus?bot=NAME&opponent=NAME": ["/api/versus?bot=anna&opponent=bert"],
            "/api/records": ["/api/records?limit=1", "/api/records"],
            "/api/search": ["/api/search?bot=anna&game=tictactoe"],
            "/api/record/MATCH": [f"/api/record/{match}"],
            "/api/truth/MATCH": [f"/api/truth/{match}"],
            "/api/log/MATCH": [f"/api/log/{match}"],
            "/api/maps": ["/api/maps"],
            "/api/map/NAME": [f"/api/map/{name}" for name in list_built_in_map_names()],
            "/api/game/NAME?setup=JSON&moves=JSON": [f"/api/game/{game}?moves=[3]"],
            "/api/advice/MAP?position=TEXT": [],
            "/api/review/MATCH": [],
            "/api/review?game=NAME&setup=JSON&moves=JSON": [],
            "/api/openings/MAP?position=TEXT": [
                f"/api/openings/path4?position={quote(PATH4.position_to_text(PATH4.start()))}"
            ],
            "/api/me": ["/api/me"],
            "/api/me/enter?event=EVENT&name=NAME": ["/api/me/enter?event=cup&name=anna"],
            "/api/me/withdraw?event=EVENT&name=NAME": ["/api/me/withdraw?event=cup&name=anna"],
            "/api/token/create?name=NAME": ["/api/token/create?name=wolf"],
            "/api/token/rotate?name=NAME": ["/api/token/rotate?name=wolf"],
            "/api/token/revoke?name=NAME": ["/api/token/revoke?name=wolf"],
            "/api/host?do=ACTION&name=NAME&owner=OWNER&to=NEW&text=TEXT": [
                "/api/host",
                "/api/host?do=notice&text=hello",
                "/api/host?do=hide&name=dora",
            ],
            "/api/join": ["/api/join"],
            "/api/join?name=NAME": ["/api/join?name=lion"],
        }
        assert asked.keys() == guide.questions.keys()
        code = (await create_invitations(host.db_engine, ["anna"], 2, 3600))["anna"]
        basic = base64.b64encode(
            f"anna:{await tokens.create_token(host.db_engine, 'anna', 'bot')}".encode()
        ).decode()
        await tokens.create_token(host.db_engine, "dora", "bot")
        admin = base64.b64encode(
            f"root:{await tokens.create_token(host.db_engine, 'root', 'admin')}".encode()
        ).decode()
        for question, targets in asked.items():
            for target in targets:
                method = "POST" if ROUTES[find_route_key(target.partition("?")[0]) or ""].is_post else "GET"
                secret = f"Bearer {code}" if target.startswith("/api/join") else f"Basic {basic}"
                secret = f"Basic {admin}" if target.startswith("/api/host") else secret
                status, _, body = await get(host, target, method, Authorization=secret)
                assert status == 200, (target, body)
                assert guide.wrong(json.loads(body), [guide.questions[question]], target) == ""
    assert set(guide.types) - guide.met == {"Advice", "Review"}, "the other types are met in an answer"


@pytest.mark.slow
async def test_the_analysis_has_the_fields_that_the_guide_tells() -> None:
    answer = await analyse_position("path4", {"position": PATH4.position_to_text(PATH4.start())})
    assert Guide(text_of(PAGE)).wrong(json.loads(answer.body), ["Advice"], "advice") == ""
    answer = await review_match(format_record_line(random_record(make_game_on_map("riskless", "path4"))[0]))
    assert Guide(text_of(PAGE)).wrong(json.loads(answer.body), ["Review"], "review") == ""


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ([{"a": 1}], "it[0]: ['b'] is missing"),
        ([{"a": 1, "b": None, "more": 1}], "it[0]: ['more'] is not in the guide"),
        ([{"a": 1, "b": None}, {"a": "1", "b": None}], "it[1].a is no number: '1'"),
        ({}, "it is no"),
    ],
)
def test_a_wrong_answer_would_be_found(value: object, why: str) -> None:
    guide = Guide("`GET /api/x`\n```ts\ntype X = { a: number; b: string | null; c?: boolean }[];\n```\n")
    assert guide.wrong(value, ["X"], "it").startswith(why)
