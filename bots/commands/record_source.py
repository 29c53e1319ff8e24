"""Where `arena replay` gets its records: a file, or a match on a server's page by its address."""

from __future__ import annotations

import re
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import quote, unquote
from urllib.request import urlopen

from arena.console import Failure, Misuse
from arena.protocol.record import RECORD_BYTES, BadRecord, Record, from_line, read_numbered

NET_SECONDS = 20.0
_ADDRESS = re.compile(r"(https?://[^/#?]+)/(?:#/)?(?:match|api/record)/([^/#?]+)(?:/\d+)?")


def records_of(source: str) -> list[tuple[int, Record]]:
    """The records of a file, or the one of a match whose address the page shows, with their lines. Raises Failure, Misuse."""
    if source.startswith(("http://", "https://")):
        return [(1, _fetch(source))]
    try:
        records = list(read_numbered(Path(source)))
    except OSError as error:
        raise Failure(f"cannot read {source}: {error.strerror}") from None
    except BadRecord as error:
        raise Failure(str(error)) from None
    if not records:
        raise Failure(f"{source} has no record")
    return records


def _fetch(address: str) -> Record:
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise Misuse(
            f"{address!r:.120} is no match's address: copy it from the page, as http://HOST:PORT/match/ID"
        )
    server, match = found[1], unquote(found[2])
    try:
        with urlopen(f"{server}/api/record/{quote(match, safe='')}", timeout=NET_SECONDS) as answer:  # noqa: S310 - http or https
            body: bytes = answer.read(RECORD_BYTES + 1)
    except HTTPError as error:
        with error:
            why = error.read(1000).decode(errors="replace").strip()
        raise Failure(f"{server} answers {error.code}: {why}") from None
    except (OSError, HTTPException) as error:
        raise Failure(f"no answer from {server}: {getattr(error, 'reason', error)}") from None
    try:
        return from_line(body)
    except BadRecord as error:
        raise Failure(f"{server} answers with {error}") from None
