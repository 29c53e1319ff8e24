"""Where NATS is, and how a server says who it is: what `bus.url` names."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

from arena.server.bus.bus import BusError

PASSWORD_FILE = "ARENA_BUS_PASSWORD_FILE"  # noqa: S105  a name, not a password
"""The environment's name for a file that holds the password of a user whom the address names without one."""
PORT = 4222
SCHEMES = ("nats", "tls")
FORM = "write nats://HOST:4222, nats://USER:PASSWORD@HOST or tls://…; several with commas between"


@dataclass(frozen=True)
class Address:
    """The servers of one NATS, and the credentials for it."""

    servers: tuple[str, ...]
    """URLs without credentials."""
    user: str = ""
    password: str = ""
    token: str = ""
    tls: bool = False
    """Whether nothing may pass in clear."""

    @property
    def shown(self) -> str:
        """For whoever reads it: without what is secret."""
        return ",".join(self.servers)


def parse(text: str, environment: Mapping[str, str] = os.environ) -> Address:
    """An address as it is typed. Raises BusError."""
    parts = [_split(part.strip()) for part in text.split(",")]
    if len({part.scheme for part in parts}) > 1:
        raise BusError("bus.url names servers with TLS and others without; all of one NATS have it, or none")
    credentials = {(part.username, part.password) for part in parts if part.username is not None}
    if len(credentials) > 1:
        raise BusError("bus.url names servers with different users; all of one NATS know the same ones")
    user, password = next(iter(credentials), (None, None))
    servers = tuple(f"{part.scheme}://{_host(part)}:{part.port or PORT}" for part in parts)
    tls = parts[0].scheme == "tls"
    if user is None:
        return Address(servers, tls=tls)
    if password is None and PASSWORD_FILE in environment:
        # A password in a command line is seen by more than who should.
        password = _read(Path(environment[PASSWORD_FILE]))
    elif password is not None:
        password = unquote(password)
    if password is None:
        # What stands alone before the @ is a token, as in all clients of NATS.
        return Address(servers, token=unquote(user), tls=tls)
    return Address(servers, unquote(user), password, tls=tls)


def _split(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        usable = parts.scheme in SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or parts.path.strip("/") or parts.query or parts.fragment:
        # It is not shown: there may be a password in it.
        raise BusError(f"bus.url is no address of a NATS: {FORM}")
    return parts


def _host(parts: SplitResult) -> str:
    name = parts.hostname or ""
    return f"[{name}]" if ":" in name else name


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BusError(f"{PASSWORD_FILE}={file} cannot be read: {error}") from None
