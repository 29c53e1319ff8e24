"""PROTOCOL.md agrees with the code: example frames, tables of fields, and bounds."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import get_args

import msgpack
import msgspec
import pytest

from arena.games.catalogue import BUILT_IN_GAMES, make_game
from arena.protocol.codec import decode_client_message, decode_server_message, encode_message
from arena.protocol.codes import EndReason, ErrorCode
from arena.protocol.messages import (
    MAX_CLIENT_FRAME_BYTES,
    MAX_SERVER_FRAME_BYTES,
    SUBPROTOCOL,
    ClientMessage,
    Message,
    Move,
    Start,
    Turn,
)
from tests.protocol.tables import SPECIFICATION

GOLDEN = Path(__file__).with_name("golden")
FRAMES = sorted(path.stem for path in GOLDEN.glob("*.hex"))
TYPES: dict[str, type[Message]] = {str(kind.__struct_config__.tag): kind for kind in get_args(Message)}
FROM_CLIENTS = tuple(name for name, kind in TYPES.items() if kind in get_args(ClientMessage))
TEXT = SPECIFICATION.read_text(encoding="utf-8")


def golden(name: str) -> tuple[bytes, str, str]:
    hexadecimal = (GOLDEN / f"{name}.hex").read_text(encoding="ascii")
    return bytes.fromhex(hexadecimal), hexadecimal, (GOLDEN / f"{name}.json").read_text(encoding="utf-8")


def decode(frame: bytes) -> Message:
    kind = msgpack.unpackb(frame)["type"]
    return decode_client_message(frame) if kind in FROM_CLIENTS else decode_server_message(frame)


def section(heading: str) -> str:
    match = re.search(rf"^### {heading}\n(.*?)(?=^##)", TEXT, re.MULTILINE | re.DOTALL)
    assert match, f"no section {heading}"
    return match[1]


def test_every_message_has_an_example() -> None:
    assert {name.partition("-")[0] for name in FRAMES} == set(TYPES)
    assert {path.stem for path in GOLDEN.glob("*.json")} == set(FRAMES)


@pytest.mark.parametrize("name", FRAMES)
def test_an_example_decodes_and_encodes_to_the_same_bytes(name: str) -> None:
    frame, _, _ = golden(name)
    message = decode(frame)
    assert type(message) is TYPES[name.partition("-")[0]]
    assert encode_message(message) == frame


@pytest.mark.parametrize("name", FRAMES)
def test_the_readable_form_is_the_same_message(name: str) -> None:
    frame, _, readable = golden(name)
    assert msgpack.unpackb(frame) == json.loads(readable)


@pytest.mark.parametrize("name", FRAMES)
def test_the_specification_shows_the_example_under_its_message(name: str) -> None:
    _, hexadecimal, readable = golden(name)
    assert f"```\n{readable}```\n```\n{hexadecimal}```\n" in section(name.partition("-")[0])


@pytest.mark.parametrize("name", TYPES)
def test_the_specification_lists_every_field_and_no_other(name: str) -> None:
    kind = TYPES[name]
    table = section(name).split("\n\n`thinking`")[0]
    documented_fields = {
        word.split(".")[0] for word in re.findall(r"^\| `([a-z_.]+)` \|", table, re.MULTILINE)
    }
    assert documented_fields == {field.encode_name for field in msgspec.structs.fields(kind)}


@pytest.mark.parametrize("name", TYPES)
def test_the_specification_says_which_fields_may_be_left_out(name: str) -> None:
    rows = re.findall(r"^\| `([a-z_]+)` \| ([^|]*)\|", section(name), re.MULTILINE)
    optional = {field for field, kind in rows if "*optional*" in kind}
    if name in FROM_CLIENTS:
        fields = msgspec.structs.fields(TYPES[name])
        assert optional == {field.encode_name for field in fields if not field.required}
    else:
        assert not optional, "a server sends every field"


def test_the_specification_names_the_subprotocol_and_the_sizes() -> None:
    assert f"`{SUBPROTOCOL}`" in TEXT
    assert f"{MAX_CLIENT_FRAME_BYTES:,} bytes" in TEXT
    assert f"{MAX_SERVER_FRAME_BYTES:,} bytes" in TEXT


def test_every_code_and_reason_that_the_text_uses_exists() -> None:
    known = {code.value for code in ErrorCode} | {reason.value for reason in EndReason}
    used = set(re.findall(r"(?:`error`|as|with|fatal|gets|but|,) `([a-z]+_[a-z_]+)`", TEXT))
    fields = {field.encode_name for kind in TYPES.values() for field in msgspec.structs.fields(kind)}
    assert used - fields - {"base_ms", "increment_ms", "per_move", "maxie_ms", "minnie_ms"} <= known
    assert len(used & known) > 8, "the pattern finds what it is for"


def test_every_game_has_its_section() -> None:
    for name in BUILT_IN_GAMES:
        assert len(section(name)) > 100


@pytest.mark.parametrize("name", [name for name in FRAMES if name.startswith("start")])
def test_an_example_of_a_start_can_be_played(name: str) -> None:
    start = decode(golden(name)[0])
    assert isinstance(start, Start)
    game = make_game(start.game, start.setup)
    assert game.setup() == start.setup


def test_the_example_of_a_turn_is_a_match_so_far() -> None:
    start, turn = decode(golden("start")[0]), decode(golden("turn")[0])
    move = decode(golden("move")[0])
    assert isinstance(start, Start)
    assert isinstance(turn, Turn)
    assert isinstance(move, Move)
    game = make_game(start.game, start.setup)
    position = game.start()
    for each in [*turn.moves, move.move]:
        position = game.play(position, game.move_from_data(each))
    assert (turn.match, turn.ply) == (move.match, move.ply)
    assert len(turn.moves) == turn.ply
