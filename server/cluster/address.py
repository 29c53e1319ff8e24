"""Parser of the setting `bus.url`, which has the addresses of NATS servers, and optional credentials."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

from arena.server.cluster.bus import BusError

BUS_PASSWORD_FILE_ENV_VARIABLE = "ARENA_BUS_PASSWORD_FILE"  # noqa: S105  a name, not a password
"""Environment variable with the path of a file that contains the NATS password.

The file is read if `bus.url` has a user but no password. Without this variable, a user without a password is taken for
a NATS token.
"""
DEFAULT_NATS_PORT = 4222
"""Port of a NATS server whose URL has none."""
NATS_URL_SCHEMES = ("nats", "tls")
NATS_URL_FORMS_HINT = (
    "write nats://HOST:4222, nats://USER:PASSWORD@HOST or tls://…; separate several by commas"
)


@dataclass(frozen=True)
class NatsOptions:
    """Addresses of the servers of one NATS cluster, and the credentials for all of them."""

    server_urls: tuple[str, ...]
    """URL of each server, without credentials, such as `nats://host:4222`."""
    user: str = ""
    password: str = ""
    token: str = ""
    """Token; empty if the servers want a user and a password, or no credentials."""
    requires_tls: bool = False
    """True if every connection must use TLS."""


def parse_bus_url(bus_url: str) -> NatsOptions:
    """Parse the value of `bus.url`: one URL, or several separated by commas.

    Raises BusError for an invalid URL, for URLs with different credentials or schemes, and for an unreadable password
    file.
    """
    urls = [_split_bus_url(url_text.strip()) for url_text in bus_url.split(",")]
    if len({url.scheme for url in urls}) > 1:
        raise BusError(
            "bus.url mixes servers with and without TLS: write all with tls:// or all with nats://"
        )
    credentials = {(url.username, url.password) for url in urls if url.username is not None}
    if len(credentials) > 1:
        raise BusError(
            "bus.url names servers with different credentials: give all the same user and password"
        )
    user, password = next(iter(credentials), (None, None))
    server_urls = tuple(
        f"{url.scheme}://{_format_host_for_url(url)}:{url.port or DEFAULT_NATS_PORT}" for url in urls
    )
    requires_tls = urls[0].scheme == "tls"
    if user is None:
        return NatsOptions(server_urls, requires_tls=requires_tls)
    if password is None and BUS_PASSWORD_FILE_ENV_VARIABLE in os.environ:
        # Unlike a file, the command line that contains the URL can be read by other users of this machine.
        password = _read_password(Path(os.environ[BUS_PASSWORD_FILE_ENV_VARIABLE]))
    elif password is not None:
        password = unquote(password)
    if password is None:
        # A single word before the @ is a token, as in all NATS clients.
        return NatsOptions(server_urls, token=unquote(user), requires_tls=requires_tls)
    return NatsOptions(server_urls, unquote(user), password, requires_tls=requires_tls)


def _split_bus_url(bus_url: str) -> SplitResult:
    try:
        parts = urlsplit(bus_url)
        is_usable = parts.scheme in NATS_URL_SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_usable = False
    if not is_usable or parts.path.strip("/") or parts.query or parts.fragment:
        # The text is not shown, because it may contain a password.
        raise BusError(f"bus.url is not the address of a NATS server: {NATS_URL_FORMS_HINT}")
    return parts


def _format_host_for_url(url: SplitResult) -> str:
    host_name = url.hostname or ""
    return f"[{host_name}]" if ":" in host_name else host_name


def _read_password(password_file: Path) -> str:
    try:
        return password_file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BusError(f"{BUS_PASSWORD_FILE_ENV_VARIABLE}={password_file} cannot be read: {error}") from None
