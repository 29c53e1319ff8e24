"""Cost of each kind of message in CPU time, which is taken from the work budget of its sender's address.

The work budget limits the CPU time that the server spends for an address. `tests/server/edge/test_message_costs.py`
checks that every kind of message from clients has a cost, the same as in the table in SECURITY.md.
"""

from __future__ import annotations

from arena.protocol.messages import (
    Accept,
    Browse,
    Challenge,
    ClientMessage,
    Decline,
    EnterEvent,
    Hello,
    LeaveEvent,
    Move,
    Ping,
    Ready,
    Resign,
    Status,
    Unwatch,
    Watch,
    Withdraw,
)

MESSAGE_COSTS_US: dict[type[ClientMessage], int] = {
    Hello: 300,
    Ready: 2_000,
    Move: 300,
    Resign: 2_000,
    Status: 1_000,
    Challenge: 2_000,
    Accept: 3_000,
    Decline: 300,
    Withdraw: 300,
    EnterEvent: 5_000,
    LeaveEvent: 5_000,
    Watch: 2_000,
    Unwatch: 200,
    Browse: 1_000,
    Ping: 300,
}
"""Cost of each kind of message, in µs. It is taken from the `WorkBudget` of the sender's address.

The first hello of a connection is free, and so are `ready`, `move` and `resign` in a match that the client plays: other limits
apply to them. For any other match, a `ready` or `resign` costs more than a move, because the server may have to read the
result of a finished match from the store.
"""
