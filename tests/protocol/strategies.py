"""Hypothesis strategies for every message, and for the plain data inside them."""

from __future__ import annotations

from hypothesis import strategies as st

from arena.protocol.codes import EndReason, ErrorCode
from arena.protocol.messages import Accepted, End, Error, Hello, Move, Ready, Resign, Start, Turn, Welcome
from arena.protocol.timecontrol import MAX_BASE_OR_INCREMENT_MS, TimeControl
from arena.protocol.values import ClientLimits, Clocks, Players, Thinking

texts = st.text(max_size=64)
names = st.text(min_size=1, max_size=64)
secrets = st.text(max_size=128)
plies = st.integers(0, 1_000_000)
times = st.integers(0, MAX_BASE_OR_INCREMENT_MS)
spent = st.floats(0, 1e9, allow_nan=False)
seats = st.sampled_from(["maxie", "minnie"])

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=8,
)
"""Data that a message may hold as a move or in a setup."""

moves = st.lists(plain, max_size=5)
clocks = st.builds(Clocks, times, times)
players = st.builds(Players, names, names)
time_controls = st.one_of(
    st.builds(TimeControl, st.integers(1, MAX_BASE_OR_INCREMENT_MS), times),
    st.builds(TimeControl, st.integers(1, MAX_BASE_OR_INCREMENT_MS), st.just(0), st.just(True)),
)
thinking = st.builds(
    Thinking,
    depth=st.none() | st.integers(0, 100_000),
    value=st.none() | st.floats(-1e12, 1e12),
    nodes=st.none() | st.integers(0, 2**63 - 1),
    line=st.none() | st.lists(plain, max_size=5),
    cpu_ms=st.none() | st.floats(0, 1e9),
)

client_messages = st.one_of(
    st.builds(
        Hello,
        names,
        token=secrets,
        session=secrets,
        games=st.lists(names, max_size=4),
        matches=st.integers(1, 1000),
        program=st.text(max_size=100),
    ),
    st.builds(Ready, names),
    st.builds(Move, names, plies, plain),
    st.builds(Move, names, plies, plain, thinking),
    st.builds(Resign, names),
)
server_messages = st.one_of(
    st.builds(
        Welcome,
        texts,
        names,
        secrets,
        st.builds(ClientLimits, st.integers(0, 2**31), st.integers(1, 1000), times),
    ),
    st.builds(
        Start,
        names,
        names,
        st.dictionaries(texts, plain, max_size=4),
        seats,
        players,
        time_controls,
        times,
        times,
        st.integers(1, 4096),
    ),
    st.builds(Turn, names, plies, moves, clocks, times),
    st.builds(Accepted, names, plies, spent, times),
    st.builds(End, names, st.none() | seats, st.sampled_from(EndReason), texts, moves, clocks),
    st.builds(Error, st.sampled_from(ErrorCode), texts, st.none() | names, st.none() | plies, st.booleans()),
)
