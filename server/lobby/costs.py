"""What each kind of message may cost the server, and what else bounds it.

A kind that has no line here is taken from nobody: `tests/server/lobby/test_costs.py` compares the lines with the
messages of the protocol and with the table in SECURITY.md.
"""

from __future__ import annotations

from arena.protocol.messages import (
    Accept,
    Browse,
    Challenge,
    ClientMessage,
    Decline,
    Hello,
    Move,
    Ping,
    Ready,
    Resign,
    Status,
    Unwatch,
    Watch,
    Withdraw,
)

MESSAGE_COSTS: dict[type[ClientMessage], int] = {
    Hello: 0,
    Ready: 0,
    Move: 0,
    Resign: 0,
    Status: 1_000,
    Challenge: 2_000,
    Accept: 3_000,
    Decline: 300,
    Withdraw: 300,
    Watch: 2_000,
    Unwatch: 200,
    Browse: 1_000,
    Ping: 300,
}
"""By message, what its sender's address pays for it, in µs of `server.net.by_address.work.WorkBudget`.

0: other limits bound it. One hello opens a connection, and newcomers wait for their turns; a match asks for each move,
each readiness is said once, a resignation ends a match, and whoever sends others loses the match after a few.
"""

OUT_OF_PLACE_COSTS: dict[type[ClientMessage], int] = {
    Hello: 300,
    Ready: 2_000,
    Move: 300,
    Resign: 2_000,
}
"""What is paid, in µs, for what is free where it belongs: a second hello, and words on a match that their sender does not play.

Who is ready for a match that is over, or resigns it, is told its end, from the store where it has to be.
"""
