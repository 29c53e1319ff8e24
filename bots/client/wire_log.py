"""Messages as a log may show them."""

from __future__ import annotations

from msgspec import structs

from arena.protocol.messages import ClientMessage, Hello, ServerMessage, Welcome


def printable(message: ClientMessage | ServerMessage) -> ClientMessage | ServerMessage:
    """A message without its secrets: logs are kept, and shown to others."""
    match message:
        case Hello():
            return structs.replace(
                message, token="…" if message.token else "", session="…" if message.session else ""
            )
        case Welcome():
            return structs.replace(message, session="…")
    return message
