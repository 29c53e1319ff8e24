"""HTTP requests to an arena server, for commands that read from the server."""

from __future__ import annotations

from collections.abc import Mapping
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from arena.console import CommandError

FETCH_TIMEOUT_SECONDS = 20.0
"""Maximum time to wait for the next byte of a response, in seconds."""


def fetch_body(server_name: str, url: str, max_bytes: int, headers: Mapping[str, str] | None = None) -> bytes:
    """Return the body of a server's response to a GET of `url` (http or https), cut off after `max_bytes`.

    server_name  name of the server in error messages

    Raises CommandError if the URL is invalid or the request fails.
    """
    try:
        request = Request(url, headers=dict(headers or {}))  # noqa: S310 - http or https, as the callers write it
        with urlopen(request, timeout=FETCH_TIMEOUT_SECONDS) as response:  # noqa: S310 - http or https, as the callers write it
            body: bytes = response.read(max_bytes)
    except HTTPError as error:
        with error:
            explanation = error.read(1000).decode(errors="replace").strip()
        raise CommandError(
            f"{server_name} refused the request with status {error.code}: {explanation}"
        ) from None
    except (OSError, HTTPException, ValueError) as error:  # ValueError for an invalid host, such as `[`
        reason = getattr(error, "reason", error)
        raise CommandError(
            f"no answer from {server_name}: {getattr(reason, 'strerror', None) or reason}"
        ) from None
    return body
