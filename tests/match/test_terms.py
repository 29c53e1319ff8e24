"""The terms of a match: threads of each player, and their form in the store."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import json
from msgspec.structs import replace

from arena.games.catalogue import CATALOGUE
from arena.games.core import GameError
from arena.maps.game_on_map import make_game_on_map
from arena.match.terms import MatchTerms, SearchThreadLimits, decode_terms, encode_terms
from arena.protocol.codes import EndReason
from arena.protocol.engines import EngineInfo, EnginesBySeat
from arena.protocol.record import Result, format_record_line
from arena.protocol.timecontrol import TimeControl, TimeOdds
from arena.protocol.values import Players
from tests.games.own import EXAMPLES
from tests.server.matches import terms

numbers = st.none() | st.integers(1, 64)
engines = st.none() | st.builds(
    EngineInfo,
    st.text(min_size=1, max_size=8),
    st.dictionaries(st.text(min_size=1, max_size=8), st.text(max_size=8), max_size=2),
    numbers,
)


@given(engines, engines, numbers, numbers)
def test_a_player_gets_its_requested_threads_up_to_the_limit(
    maxie: EngineInfo | None, minnie: EngineInfo | None, most: int | None, other: int | None
) -> None:
    agreed = replace(terms(), thread_limits=SearchThreadLimits(most, other)).with_engines(maxie, minnie)
    for engine, agreed_engine, limit, threads in (
        (maxie, agreed.engines.maxie, most, agreed.get_max_search_threads("maxie")),
        (minnie, agreed.engines.minnie, other, agreed.get_max_search_threads("minnie")),
    ):
        asked = None if engine is None else engine.threads
        known = [each for each in (asked, limit) if each is not None]
        assert threads == (min(known) if known else 1)
        if engine is None or asked is None:
            assert agreed_engine == engine
        else:
            assert agreed_engine == replace(engine, threads=threads)
    assert agreed.search_threads_needed == max(
        agreed.get_max_search_threads("maxie"), agreed.get_max_search_threads("minnie")
    )
    kept = decode_terms(encode_terms(agreed))
    assert kept == replace(agreed, game=kept.game)


def test_terms_that_are_older_than_engines_are_read() -> None:
    data = json.decode(encode_terms(terms()))
    del data["engines"], data["thread_limits"]
    data["threads"] = 2
    read = decode_terms(json.encode(data).decode())
    assert (read.engines, read.thread_limits, read.get_max_search_threads("maxie")) == (
        EnginesBySeat(),
        SearchThreadLimits(),
        1,
    )


def test_terms_of_an_unknown_game_are_refused_with_its_name() -> None:
    data = json.decode(encode_terms(terms()))
    data["game"]["name"] = "no-such-game"
    with pytest.raises(GameError, match=r"^no game is called 'no-such-game': .*--game FILE.py:Class\)$"):
        decode_terms(json.encode(data).decode())


def test_a_record_has_the_terms_and_the_rules_digest_of_a_custom_game() -> None:
    own = MatchTerms(
        match="m",
        event="e",
        game=make_game_on_map(CATALOGUE.register_game(f"{EXAMPLES / 'connect4.py'}:ConnectFour")),
        players=Players("a", "b"),
        time_control=TimeControl(1000),
        time_odds=TimeOdds(minnie="2+0"),
        margin_ms=0,
        ready_ms=1,
    )
    result = Result("maxie", EndReason.RESIGNATION)
    record = own.make_record("2026-11-22T00:00:00Z", [], result)
    assert (record.match, record.event, record.game, record.players) == ("m", "e", "connect4", own.players)
    assert (record.time_control, record.time_odds, record.result) == ("1+0", own.time_odds, result)
    assert record.engines is None
    assert record.rules == CATALOGUE.get_rules_digest(own.game)
    assert len(record.rules) == 16
    assert '"rules"' not in format_record_line(
        replace(own, game=make_game_on_map("tictactoe")).make_record(record.started, [], result)
    )
