"""How a connection ended: whether its peer broke the rules, and whether it had to be cut off for what it did."""

from __future__ import annotations

from typing import NamedTuple

from websockets.exceptions import ConnectionClosed

from arena.protocol.codes import Code

FAULTY_CODES = {1002, 1003, 1007, 1008, 1009}
"""Close codes of this side for what a client did wrong."""
HARMLESS = (Code.REPLACED.value, Code.NAME_TAKEN.value)
"""How the reason of such a close begins where nobody did wrong: a bot has returned, or waits for its name."""


class Ending(NamedTuple):
    """The end of a connection."""

    cut_off: bool = False
    """Whether it counts against its address."""
    fault: str | None = None
    """What the peer did wrong, where this side closed for that."""


def ending(closed: ConnectionClosed) -> Ending:
    """How a connection ended that had been opened, by its close frames."""
    sent = closed.sent
    if sent is None or sent.code not in FAULTY_CODES or closed.rcvd_then_sent:
        return Ending()
    return Ending(not sent.reason.startswith(HARMLESS), sent.reason or f"close code {sent.code}")
