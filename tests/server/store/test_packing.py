from __future__ import annotations

import hashlib
import sys

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.games.core import Player
from arena.match.referee_events import (
    MatchOpened,
    MoveReceived,
    PlayerReady,
    PlayerResigned,
    RefereeEvent,
    TurnStarted,
    encode_journal_row,
)
from arena.protocol.record import RecordedMove, format_record_line
from arena.protocol.values import Thinking
from arena.server.store import packing
from arena.server.store.packing import (
    PackableMatch,
    UnpackError,
    pack_match,
    pack_record,
    unpack_match,
    unpack_record,
)
from testkit.sample_match import make_sample_match, make_terms_json
from tests.server.matches import record

values = st.one_of(st.integers(0, 99), st.just(1.0), st.just(True), st.lists(st.integers(0, 20), max_size=2))
thoughts = st.none() | st.builds(
    Thinking, depth=st.none() | st.integers(0, 9), line=st.lists(values, max_size=3).map(list)
)
moves = st.builds(RecordedMove, values, st.floats(0, 1e6), thinking=thoughts)

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


@st.composite
def matches(draw: st.DrawFn) -> PackableMatch:
    """Generate a record and a journal whose moves mostly agree."""
    kept = record("m" * 32)
    made = draw(st.lists(moves, max_size=8))
    kept = msgspec.structs.replace(kept, moves=made)
    rows = []
    at = draw(st.integers(0, 2**60))
    happened: list[RefereeEvent] = [MatchOpened(), PlayerReady(Player.MAXIE)]
    for ply, move in enumerate(made):
        other = draw(st.booleans())
        thinking = draw(thoughts) if other else move.thinking
        happened.append(MoveReceived(Player.MAXIE, ply, draw(values) if other else move.move, thinking))
    happened += draw(
        st.lists(st.builds(MoveReceived, st.just(Player.MINNIE), st.integers(0, 20), values, thoughts))
    )
    happened.append(PlayerResigned(Player.MAXIE))
    for number, event in enumerate(happened):
        at += draw(st.integers(-5, 2**40))
        rows.append(
            encode_journal_row(at, event, (at - 1, TurnStarted(number)) if draw(st.booleans()) else None)
        )
    return PackableMatch(
        format_record_line(kept), draw(st.text().map(lambda text: msgspec.json.encode(text).decode())), rows
    )


@given(matches())
def test_unpacking_restores_every_byte(whole: PackableMatch) -> None:
    packed = pack_match(whole)
    assert unpack_match(packed) == whole
    assert unpack_record(packed) == whole.record_line
    assert unpack_record(pack_record(whole.record_line)) == whole.record_line


def test_a_match_with_only_a_packed_record_has_no_journal() -> None:
    with pytest.raises(UnpackError, match="only a record"):
        unpack_match(pack_record(format_record_line(record())))


@pytest.mark.parametrize("imported", [[], ['[[1,{"type":"opened"}]]']])
def test_packed_events_are_restored_also_if_there_are_none(imported: list[str]) -> None:
    assert (
        unpack_match(pack_match(PackableMatch(format_record_line(record()), "{}", imported))).event_rows
        == imported
    )


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"\x02abc",
        b"\x01",
        b"\x01nothing",
        b"\x01\x28\xb5\x2f\xfd\x00",
        pytest.param(pack_record(format_record_line(record()))[:-3], id="cut"),
    ],
)
def test_corrupt_packed_data_is_reported_in_one_line(damaged: bytes) -> None:
    with pytest.raises(UnpackError) as caught:
        unpack_record(damaged)
    assert "\n" not in str(caught.value)


def test_packed_data_that_unpack_to_too_much_are_refused() -> None:
    bomb = packing.PACKED_FORMAT_VERSION + zstd.compress(bytes(packing.MAX_UNPACKED_BYTES + 1))
    assert len(bomb) < 100_000
    with pytest.raises(UnpackError, match="unpack to more than"):
        unpack_record(bomb)


def test_the_dictionary_never_changes() -> None:
    """Data packed with it cannot be read with any other: a new dictionary needs a new format version."""
    digest = hashlib.sha256(packing.COMPRESSION_DICTIONARY_FILE.read_bytes()).hexdigest()
    assert digest == "d64d78834e52e7cb9ee91206aa2a78860f237d0255f031b63d7e5696c135a67e"


@pytest.mark.parametrize("seed", range(3))
def test_a_match_of_a_hundred_plies_takes_less_than_4_kb(seed: int) -> None:
    match = make_sample_match(100, seed)
    whole = PackableMatch(format_record_line(match.record), make_terms_json(match), match.journal_rows)
    assert len(whole.record_line) + len(whole.terms_json) + sum(map(len, whole.event_rows)) > 30_000
    assert len(pack_match(whole)) < 4000
    assert unpack_match(pack_match(whole)) == whole
