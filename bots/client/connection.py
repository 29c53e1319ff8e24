"""Opening of a websocket connection to a server, and the errors of a client.

The message of each error is one line for the bot's owner, which says what is wrong and what to do.

Errors::

    ClientError
      BadURL         the URL is not a websocket URL
      NoServer       no server answers at the URL, or it does not speak this protocol
      ServerRefused  the server rejects or disconnects this bot
      ConnectionLost the connection was lost and could not be restored
"""

from __future__ import annotations

import os
from ipaddress import ip_address
from ssl import SSLCertVerificationError, SSLError
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import (
    ConnectionClosed,
    InvalidHandshake,
    InvalidMessage,
    InvalidProxy,
    InvalidStatus,
    InvalidURI,
)
from websockets.typing import Subprotocol

from arena.protocol.codes import ErrorCode
from arena.protocol.messages import MAX_SERVER_FRAME_BYTES, SUBPROTOCOL

CONNECT_TIMEOUT_SECONDS = 10.0
"""Time limit for opening a connection, including the handshake, in seconds."""


class ClientError(Exception):
    """Raised when the client cannot continue; the message is one line for the bot's owner."""


class BadURL(ClientError):
    """Raised when the URL is not a websocket URL."""


class NoServer(ClientError):
    """Raised when no server answers at the URL, or when the server there does not speak this protocol."""


class ServerRefused(ClientError):
    """Raised when the server rejects this client; `code` is the error code, which gives the reason."""

    def __init__(self, code: ErrorCode, detail: str) -> None:
        refusal_text = "the host has removed this bot" if code is ErrorCode.REMOVED else "the server refuses"
        super().__init__(f"{refusal_text}: {detail} ({code.value})")
        self.code = code


class ConnectionLost(ClientError):
    """Raised when the connection to the server is lost. `Client.run` raises it only if reconnecting failed."""


async def open_connection(url: str) -> ClientConnection:
    """Open and return a websocket to the server at `url`, with this project's subprotocol.

    Raises BadURL if `url` is not a websocket URL, and NoServer if no server answers there or it does not speak the
    protocol.
    """
    try:
        attempt = connect(
            url,
            subprotocols=[Subprotocol(SUBPROTOCOL)],
            max_size=MAX_SERVER_FRAME_BYTES,
            compression=None,
            open_timeout=CONNECT_TIMEOUT_SECONDS,
            close_timeout=1,
            proxy=None if _is_local(url) else True,
        )
    except (InvalidURI, ValueError) as error:
        raise BadURL(f"{url!r:.200} is not a server URL: write ws://HOST:PORT ({error})") from None
    try:
        connection = await attempt
    except InvalidStatus as error:
        body = (error.response.body or b"").decode(errors="replace").strip()
        status = error.response.status_code
        raise NoServer(
            f"{url} does not speak {SUBPROTOCOL}: it answers {status} {body:.200}".rstrip()
        ) from None
    except InvalidProxy as error:
        raise NoServer(f"cannot reach {url}: {error}") from None
    except ConnectionClosed:  # before the request could be sent
        raise NoServer(
            f"{url} does not speak {SUBPROTOCOL}: it closed the connection; give another --url"
        ) from None
    except InvalidHandshake as error:
        if isinstance(error, InvalidMessage) and isinstance(error.__cause__, EOFError):
            raise NoServer(
                f"{url} closed the connection without an answer; a server does so for up to a minute"
                " after too many failed logins from one address: try again later"
            ) from None
        raise NoServer(f"{url} does not speak {SUBPROTOCOL}: {error}; give another --url") from None
    except SSLCertVerificationError as error:
        raise NoServer(
            f"the TLS certificate of {url} is not trusted: {error.verify_message}; set SSL_CERT_FILE to its CA bundle"
        ) from None
    except (OSError, TimeoutError) as error:
        if url.startswith("wss:") and isinstance(
            error, SSLError | ConnectionResetError | ConnectionAbortedError
        ):
            plain_url = url.replace("wss:", "ws:", 1)
            raise NoServer(f"{url} does not speak TLS, which wss:// needs: try {plain_url}") from None
        if isinstance(error, TimeoutError):
            reason = "no answer"
        elif isinstance(error, ConnectionError) and error.errno:  # asyncio's own text repeats the address
            reason = os.strerror(error.errno)
        else:
            reason = error.strerror or str(error)
        raise NoServer(
            f"no server at {url} ({reason}): start one with `arena serve`, or give the address of another one with --url"
        ) from None
    if connection.subprotocol != SUBPROTOCOL:
        await connection.close()
        raise NoServer(f"the websocket server at {url} does not speak {SUBPROTOCOL}: give another --url")
    return connection


def _is_local(url: str) -> bool:
    """Return True if the URL names this machine, which a client must reach directly, without a proxy."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
