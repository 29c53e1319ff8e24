"""How a connection ended: the table of causes, and what the library itself says after a peer's faults."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.exceptions import ConnectionClosed, ConnectionClosedError
from websockets.frames import Close, Frame, Opcode
from websockets.protocol import Protocol, Side

from arena.protocol.codes import Code
from arena.server.net.ending import Ending, ending

BROKE_THE_RULES = {
    1002: "what is no frame",
    1003: "a kind of data that nobody takes",
    1007: "what is no message",
    1008: "more than is allowed",
    1009: "a message too large",
}
NO_FAULT = [1000, 1001, 1010, 1011, 1012, 1013, 1014, 3000, 4999]

codes = st.sampled_from([*BROKE_THE_RULES, *NO_FAULT])
closes = st.builds(Close, codes, st.text(max_size=30))


def test_who_closes_is_told_from_who_is_closed() -> None:
    fault = Close(1008, "rate_limited: too many")
    assert ending(ConnectionClosedError(None, fault)) == Ending(cut_off=True, fault="rate_limited: too many")
    answered = ConnectionClosedError(fault, fault, rcvd_then_sent=False)
    assert ending(answered) == Ending(cut_off=True, fault="rate_limited: too many")
    # A close frame is answered with the same code, which is then no judgement of this side.
    echoed = ConnectionClosedError(fault, fault, rcvd_then_sent=True)
    assert ending(echoed) == Ending()


@pytest.mark.parametrize("code", BROKE_THE_RULES)
def test_a_close_for_a_fault_counts_and_has_a_reason_even_where_none_was_given(code: int) -> None:
    assert ending(ConnectionClosedError(None, Close(code, ""))) == Ending(True, f"close code {code}")


@pytest.mark.parametrize("code", NO_FAULT)
def test_a_close_for_no_fault_of_the_peer_does_not_count(code: int) -> None:
    assert ending(ConnectionClosedError(None, Close(code, "the server stops"))) == Ending()


@pytest.mark.parametrize("code", [Code.REPLACED, Code.NAME_TAKEN])
def test_a_bot_that_returns_is_not_counted_as_cut_off(code: Code) -> None:
    end = ending(ConnectionClosedError(None, Close(1008, f"{code}: {code.meaning}")))
    assert not end.cut_off


@given(st.one_of(st.none(), closes))
def test_a_connection_that_this_side_did_not_close_has_no_fault(received: Close | None) -> None:
    assert ending(ConnectionClosedError(received, None)) == Ending()


@given(st.one_of(st.none(), closes), closes)
def test_whoever_is_cut_off_had_a_fault(received: Close | None, sent: Close) -> None:
    end = ending(ConnectionClosedError(received, sent, False if received else None))
    assert end.fault != ""
    assert (end.fault is not None) == (sent.code in BROKE_THE_RULES)
    assert end.fault is not None or not end.cut_off


def closed_by(said: bytes) -> ConnectionClosed:
    """How the library says that a connection ended on which a client said this, and then went away."""
    server = Protocol(Side.SERVER, max_size=100)
    server.receive_data(said)
    server.data_to_send()
    server.receive_eof()
    return server.close_exc


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (Frame(Opcode.BINARY, b"not masked").serialize(mask=False), 1002),
        (b"\xf2" + Frame(Opcode.BINARY, b"reserved bits").serialize(mask=True)[1:], 1002),
        (Frame(Opcode.CONT, b"goes on with nothing").serialize(mask=True), 1002),
        (Frame(Opcode.BINARY, 101 * b"x").serialize(mask=True), 1009),
        (Frame(Opcode.CLOSE, b"\x03\xe8\xff").serialize(mask=True), 1007),
    ],
    ids=["unmasked", "reserved", "continued", "large", "reason"],
)
def test_what_the_library_finds_wrong_is_a_fault(said: bytes, code: int) -> None:
    closed = closed_by(said)
    assert closed.sent is not None
    assert closed.sent.code == code
    end = ending(closed)
    assert end.cut_off
    assert end.fault


@pytest.mark.parametrize(
    "said",
    [
        b"",
        Frame(Opcode.BINARY, b"half of a message").serialize(mask=True)[:9],
        Frame(Opcode.CLOSE, Close(1000, "").serialize()).serialize(mask=True),
        Frame(Opcode.CLOSE, Close(1008, "the server is wrong").serialize()).serialize(mask=True),
        Frame(Opcode.CLOSE, b"").serialize(mask=True),
    ],
    ids=["lost", "lost inside a message", "closes", "finds fault with this side", "closes without a code"],
)
def test_who_leaves_or_is_lost_did_nothing_wrong(said: bytes) -> None:
    assert ending(closed_by(said)) == Ending()
