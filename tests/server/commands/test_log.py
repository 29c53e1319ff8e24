"""`arena log`, from a store and from a server."""

from __future__ import annotations

import json

import anyio
import pytest

from arena.games.core import Player
from arena.match.referee_events import PlayerResigned
from arena.protocol.engines import EngineInfo
from arena.server.host import open_arena_server
from arena.server.settings import make_private_server_settings
from arena.server.store.tokens import create_token
from tests.bots.command_line import Result, arena, fails
from tests.server.matches import game_of, spec
from tests.server.peer import enter
from tests.server.played import MINNIE_WINS, events, store_matches_daily


@pytest.fixture
def filled_store(database: str) -> str:
    store_matches_daily(database, events(MINNIE_WINS), match="aa" * 16)
    return store_matches_daily(database, events([0], PlayerResigned(Player.MINNIE)), match="ab" * 16)


def test_each_move_has_a_row_and_the_result_follows(filled_store: str) -> None:
    result = arena("log", "aaa", "--db", filled_store)
    assert result.code == 0, result
    lines = result.stdout.splitlines()
    assert (
        lines[0] == f"match {'aa' * 16}: tictactoe, anna (maxie) against bert (minnie), 1+0.1, margin 50 ms"
    )
    moves = [line for line in lines if "| 1000 |" in line]
    assert len(moves) == len(MINNIE_WINS)
    assert lines[-1] == "minnie won: line: three in a line"


def test_the_reported_engines_are_shown(database: str) -> None:
    async def play() -> str:
        engine = EngineInfo("jamboree", {"depth": "8", "form": "co\x1burse"}, 2)
        async with (
            open_arena_server(make_private_server_settings(database_url=database)) as host,
            enter(host, "anna", engine=engine) as anna,
            enter(host, "bert") as bert,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(anna.play, game_of())
            tasks.start_soon(bert.play, game_of())
            record = await host.shell.play_match(spec("anna", "bert"))
        return record.match

    match = anyio.run(play)
    lines = arena("log", match, "--db", database).stdout.splitlines()
    assert lines[1] == "maxie: jamboree:depth=8,form=co?urse, 2 threads"
    assert not lines[2].startswith("minnie")
    data = json.loads(arena("log", match, "--db", database, "--json", "-").stdout)
    assert data["engines"] == {
        "maxie": {"name": "jamboree", "options": {"depth": "8", "form": "co\x1burse"}, "threads": 2},
        "minnie": None,
    }


def test_the_log_of_one_bot_as_json(filled_store: str) -> None:
    data = json.loads(arena("log", "ab", "--bot", "anna", "--db", filled_store, "--json", "-").stdout)
    assert (data["winner"], data["reason"]) == ("maxie", "resignation")
    assert {step["player"] for step in data["steps"]} == {None, "maxie"}
    (move,) = (step for step in data["steps"] if step["ply"] is not None)
    assert (move["what"], move["had"], move["took"], move["left"]) == ("a1", 1000, 100.0, 1000)


def test_a_long_reason_is_cut_only_in_the_table(database: str) -> None:
    store_matches_daily(database, events([0, 0]), match="ab" * 16)
    lines = arena("log", "ab", "--db", database).stdout.splitlines()
    assert max(map(len, lines[1:-1])) < 145
    assert "b1, c1, a2" in lines[-1]


def test_a_log_that_cannot_be_shown_is_an_error(filled_store: str) -> None:
    fails("no match has an id that begins with 'c'", 1, "log", "c", "--db", filled_store)
    fails("no match has an id that begins with '%'", 1, "log", "%", "--db", filled_store)
    fails("the ids of several matches begin with 'a'", 1, "log", "a", "--db", filled_store)
    words = ("log", "aa", "--bot", "zoe", "--db", filled_store)
    fails("'zoe' did not play that match; anna and bert did", 1, *words)
    fails("database nothere.db does not exist", 1, "log", "aa", "--db", "sqlite:///nothere.db")
    fails("--db cannot be combined with --url", 2, "log", "aa", "--db", filled_store, "--url", "ws://here")
    fails("is not a server URL", 2, "log", "aa", "--url", "http://here", "--name", "anna")
    fails("no answer from ws://[: Invalid IPv6 URL", 1, "log", "aa", "--url", "ws://[", "--name", "anna")
    fails("--url also needs --name", 2, "log", "aa", "--url", "ws://here")


async def test_a_bot_can_fetch_only_logs_of_its_own_matches(filled_store: str) -> None:
    async with open_arena_server(
        make_private_server_settings(database_url=filled_store, anyone=False)
    ) as host:
        tokens = {name: await create_token(host.db_engine, name, "bot") for name in ("anna", "zoe")}

        async def ask(name: str, token: str, match: str = "aaaa", url: str = host.url) -> Result:
            words = ("log", match, "--url", url, "--name", name, "--token", token)
            return await anyio.to_thread.run_sync(arena, *words)

        result = await ask("anna", tokens["anna"])
        assert result.code == 0, result
        assert result.stdout.endswith("minnie won: line: three in a line\n")
        other = await ask("zoe", tokens["zoe"])
        assert "status 404: no match of 'zoe' has an id that begins with 'aaaa'" in other.stderr
        for name, token in (("anna", tokens["zoe"]), ("anna", ""), ("bert", "x")):
            refused = await ask(name, token)
            assert refused.code == 1
            assert "status 401" in refused.stderr
        assert "'%' is too short" in (await ask("anna", tokens["anna"], "%")).stderr
    gone = await ask("anna", "")
    assert gone.stderr.startswith("arena: no answer from ws://")
