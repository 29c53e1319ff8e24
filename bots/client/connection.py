"""A websocket to a server of this protocol, or an error that says what to do.

Errors::

    ClientError
      BadURL         the URL is none of a websocket
      NoServer       nobody answers at the URL, or not a server of this protocol
      ServerRefused  the server does not let this bot in, or throws it out
      Lost           the connection was lost, and could not be made again
"""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from msgspec import structs
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import (
    ConnectionClosed,
    InvalidHandshake,
    InvalidProxy,
    InvalidStatus,
    InvalidURI,
)
from websockets.typing import Subprotocol

from arena.protocol.codes import Code
from arena.protocol.messages import (
    MAX_SERVER_FRAME,
    SUBPROTOCOL,
    ClientMessage,
    Hello,
    ServerMessage,
    Welcome,
)

CONNECT_SECONDS = 10.0
"""How long a connection with its handshake may take."""


class ClientError(Exception):
    """The client cannot go on: one line for its owner."""


class BadURL(ClientError):
    """The URL is none of a websocket."""


class NoServer(ClientError):
    """Nobody answers at the URL, or it does not speak this protocol."""


class ServerRefused(ClientError):
    """The server does not want this client. `code` says why."""

    def __init__(self, code: Code, detail: str) -> None:
        super().__init__(f"the server refuses: {detail} ({code.value})")
        self.code = code


class Lost(ClientError):
    """The connection was lost."""


async def open_connection(url: str) -> ClientConnection:
    """A connection that speaks the protocol. Raises BadURL or NoServer."""
    try:
        connecting = connect(
            url,
            subprotocols=[Subprotocol(SUBPROTOCOL)],
            max_size=MAX_SERVER_FRAME,
            compression=None,
            open_timeout=CONNECT_SECONDS,
            close_timeout=1,
            proxy=None if _is_here(url) else True,
        )
    except (InvalidURI, ValueError) as error:
        raise BadURL(f"{url!r:.200} is no URL of a server: write ws://HOST:PORT ({error})") from None
    try:
        connection = await connecting
    except InvalidStatus as error:
        said = (error.response.body or b"").decode(errors="replace").strip()
        status = error.response.status_code
        raise NoServer(
            f"{url} is no server of {SUBPROTOCOL}: it answers {status} {said:.200}".rstrip()
        ) from None
    except InvalidProxy as error:
        raise NoServer(f"cannot reach {url}: {error}") from None
    except ConnectionClosed:  # before the request could be sent
        raise NoServer(f"{url} is no server of {SUBPROTOCOL}: it hangs up") from None
    except InvalidHandshake as error:
        raise NoServer(f"{url} is no server of {SUBPROTOCOL}: {error}") from None
    except (OSError, TimeoutError) as error:
        why = "no answer" if isinstance(error, TimeoutError) else error.strerror or str(error)
        raise NoServer(
            f"no server at {url} ({why}): start one with `arena serve`, or give its --url"
        ) from None
    if connection.subprotocol != SUBPROTOCOL:
        await connection.close()
        raise NoServer(f"{url} is a websocket, but does not speak {SUBPROTOCOL}")
    return connection


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


def _is_here(url: str) -> bool:
    """Whether a URL names this machine, which no proxy would find."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
