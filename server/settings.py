"""Settings of a server, one struct for each section of `arena.toml`. `arena serve --example-config` prints them all.

The docstring of a struct and the description of a field are comments in that file. The name of a field with a unit ends
in this unit. An empty text stands for *none*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct, field
from msgspec.structs import fields

from arena.maps.game_on_map import DEFAULT_MAP
from arena.protocol.adjudication import (
    DEFAULT_ADJUDICATION,
    NO_ADJUDICATION,
    Adjudication,
)
from arena.server.core.limits import PRIVATE_SERVER_LIMITS, ServerLimits
from arena.server.core.settings import AnalysisVisibility
from arena.server.shell.house_processes import DEFAULT_HOUSE_ENGINES
from arena.server.store.pruning import Retention

MAX_PORT = 65_535
"""Highest port number of TCP."""


class LogFormat(StrEnum):
    """Format of the log's lines: text for people, or JSON for programs."""

    TEXT = "text"
    JSON = "json"


class ProcessRole(StrEnum):
    """Part of a server that a process runs: an edge (connections), a core (matches), or all parts."""

    ALL = "all"
    EDGE = "edge"
    CORE = "core"


class ServerSettings(Struct, kw_only=True, forbid_unknown_fields=True):
    """Address, name, role and shutdown of a server process."""

    host: Annotated[str, Meta(description="Address to listen on; 0.0.0.0 for all interfaces.")] = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=MAX_PORT, description="Port to listen on; 0: any free port.")] = 8765
    reuse_port: Annotated[bool, Meta(description="Share the port with other servers of the same user.")] = (
        False
    )
    metrics_port: Annotated[
        int,
        Meta(
            ge=0,
            le=MAX_PORT,
            description="Port for metrics on 127.0.0.1; of several edges, the second uses PORT + 1, and so on. 0: none.",
        ),
    ] = 0
    role: Annotated[
        ProcessRole,
        Meta(description="Part of a cluster: edge (connections), core (matches), or all in one process."),
    ] = ProcessRole.ALL
    processes: Annotated[
        int,
        Meta(
            ge=1,
            le=256,
            description="Number of edges behind one port, with a core; more than one needs PostgreSQL.",
        ),
    ] = 1
    name: Annotated[
        str, Meta(description="Name of the server in its database; for an edge or a core, name of the shard.")
    ] = ""
    proxies: Annotated[
        tuple[str, ...],
        Meta(description="Addresses or networks of proxies whose X-Forwarded-For is trusted."),
    ] = ()
    origins: Annotated[
        tuple[str, ...],
        Meta(
            description="Sites whose pages may read GET /api/ (CORS), e.g. https://course.example; * for all."
        ),
    ] = ()
    anyone: Annotated[
        bool, Meta(description="Let bots use any name without a token: for a private network.")
    ] = False
    drain_seconds: Annotated[
        float,
        Meta(
            ge=0,
            description="Time for matches to end after SIGTERM or Ctrl-C; unfinished ones continue later.",
        ),
    ] = 10.0


class PoolSettings(Struct, kw_only=True, forbid_unknown_fields=True):
    """Matches that the matchmaker arranges between waiting bots."""

    games: Annotated[tuple[str, ...], Meta(description="Games to play in turn: names, or FILE.py:Class.")] = (
        "riskless",
    )
    maps: Annotated[
        tuple[str, ...], Meta(description="Riskless maps to play in turn (`arena maps list`).")
    ] = (DEFAULT_MAP,)
    time_controls: Annotated[
        tuple[str, ...], Meta(description="Time controls, in seconds: 10+0.1 or 0.1/move.")
    ] = ("10+0.1",)
    openings: Annotated[
        str,
        Meta(
            description="Openings: shipped (the map's own, else random plies), none, a number of random plies, or a file."
        ),
    ] = "shipped"
    pause_seconds: Annotated[
        float, Meta(ge=0, description="Minimum time between matches of the same two bots.")
    ] = 5.0
    margin_ms: Annotated[
        int, Meta(ge=0, le=60_000, description="Extra time allowed on each move for network delay.")
    ] = 100
    ready_seconds: Annotated[
        float, Meta(ge=1, le=600, description="Time for a bot to confirm the start of a match (ready).")
    ] = 30.0
    rated: Annotated[bool, Meta(description="Count the matches of the pool in the ratings.")] = True
    matchmaker: Annotated[bool, Meta(description="Pair waiting bots; false: challenges only.")] = True
    concurrency: Annotated[
        int, Meta(ge=0, description="Parallel matches; 0: as many as the cores allow.")
    ] = 0


class MatchSettings(Struct, kw_only=True, forbid_unknown_fields=True):
    """Settings of all matches, including those that begin by a challenge."""

    grace_seconds: Annotated[
        float,
        Meta(ge=0, le=3600, description="Time for a disconnected bot, or an unavailable store, to return."),
    ] = 30.0
    adjudicate: Annotated[
        str, Meta(description="Rules that end matches early, e.g. repetition=3,win=500,limit=200; or none.")
    ] = str(DEFAULT_ADJUDICATION)
    thinking: Annotated[
        AnalysisVisibility,
        Meta(
            description="When spectators see a bot's analysis: reply (after the opponent's next move) or end (of the match)."
        ),
    ] = "reply"

    @property
    def adjudication(self) -> Adjudication | None:
        """Adjudication rules; None if there are none. Raises BadAdjudication if `adjudicate` is invalid."""
        return Adjudication.parse(self.adjudicate)


class HouseSettings(Struct, kw_only=True, forbid_unknown_fields=True):
    """Engines (bots) that the server itself runs."""

    engines: Annotated[
        tuple[str, ...],
        Meta(
            description="Engines that the server itself runs, and that all bots may challenge; [] for none."
        ),
    ] = DEFAULT_HOUSE_ENGINES
    guests: Annotated[
        bool, Meta(description="Let guests without a token play against the server's engines.")
    ] = True


class WebhookSettings(Struct, kw_only=True, forbid_unknown_fields=True):
    """Webhook (URL) that receives news of events (tournaments)."""

    url: Annotated[str, Meta(description="URL that receives news of events by POST; empty: none.")] = ""
    secret: Annotated[
        str, Meta(description="Signing key of the messages, in base64: `openssl rand -base64 32`.")
    ] = ""


class StoreSettings(Struct, kw_only=True, forbid_unknown_fields=True):
    """Database, and files to which finished matches are written."""

    url: Annotated[
        str, Meta(description="Database URL; empty: a temporary store, deleted when the server stops.")
    ] = "sqlite:///arena.db"
    record: Annotated[
        str, Meta(description="Output file for finished matches, one JSON object per line.")
    ] = ""
    keep: Annotated[
        str, Meta(description="Finished matches to keep: an age, e.g. 90d, or a number; empty: all.")
    ] = ""
    archive: Annotated[
        str, Meta(description="Folder for the matches that `keep` removes; empty: delete them.")
    ] = ""

    @property
    def retention(self) -> Retention | None:
        """Rule for the matches to keep; None to keep all. Raises BadRetention if `keep` is invalid."""
        return Retention.parse(self.keep, Path(self.archive) if self.archive else None) if self.keep else None


class BusSettings(Struct, kw_only=True, forbid_unknown_fields=True):
    """Settings of NATS, by which edges (processes that hold the connections) and cores (that run the matches) communicate."""

    url: Annotated[str, Meta(description="NATS server between edges and cores, e.g. nats://HOST:4222.")] = ""
    ca: Annotated[str, Meta(description="CA bundle for the NATS connection (PEM); empty: the system's.")] = ""


class TlsSettings(Struct, kw_only=True, forbid_unknown_fields=True):
    """TLS certificate of the server."""

    cert: Annotated[str, Meta(description="Certificate chain (PEM); empty: no TLS.")] = ""
    key: Annotated[str, Meta(description="Private key of the certificate (PEM).")] = ""


class LogSettings(Struct, kw_only=True, forbid_unknown_fields=True):
    """Log, which is written to stderr."""

    format: Annotated[LogFormat, Meta(description="Log format: text or json.")] = LogFormat.TEXT
    verbose: Annotated[bool, Meta(description="Also log connections; json always does.")] = False
    wire: Annotated[bool, Meta(description="Log every message, without secrets.")] = False


class ArenaSettings(Struct, kw_only=True, forbid_unknown_fields=True):
    """All settings of a server, as read from `arena.toml`."""

    server: ServerSettings = field(default_factory=ServerSettings)
    pool: PoolSettings = field(default_factory=PoolSettings)
    matches: MatchSettings = field(default_factory=MatchSettings)
    house: HouseSettings = field(default_factory=HouseSettings)
    store: StoreSettings = field(default_factory=StoreSettings)
    webhooks: WebhookSettings = field(default_factory=WebhookSettings)
    bus: BusSettings = field(default_factory=BusSettings)
    tls: TlsSettings = field(default_factory=TlsSettings)
    log: LogSettings = field(default_factory=LogSettings)
    limits: ServerLimits = field(default_factory=ServerLimits)

    def get_setting(self, setting_key: str) -> object:
        """Return the value of the setting with this key, such as `server.port`."""
        section, _, name = setting_key.partition(".")
        return getattr(getattr(self, section), name)

    def change_setting(self, setting_key: str, value: object) -> None:
        """Set the value of the setting with this key, such as `server.port`."""
        section, _, name = setting_key.partition(".")
        setattr(getattr(self, section), name, value)


SETTING_TYPES: Mapping[str, Any] = {
    f"{section.name}.{field_.name}": field_.type
    for section in fields(ArenaSettings)
    for field_ in fields(section.type)
}
"""Annotated type of each setting, with its range and description, by the setting's key, such as `server.port`."""

RELOADABLE_SETTING_KEYS = frozenset(
    {
        "server.drain_seconds",
        "matches.adjudicate",
        "matches.thinking",
        "store.record",
        "store.keep",
        "store.archive",
        "tls.cert",
        "tls.key",
        *(f"pool.{field_.name}" for field_ in fields(PoolSettings)),
        *(f"log.{field_.name}" for field_ in fields(LogSettings)),
        *(f"limits.{field_.name}" for field_ in fields(ServerLimits)),
    }
)
"""Keys of the settings that a running server applies on SIGHUP; all others need a restart."""


def make_private_server_settings(
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    database_url: str | None = None,
    name: str = "",
    anyone: bool = False,
    proxies: Sequence[str] = (),
    grace_seconds: float = 5.0,
    adjudication: Adjudication | None = None,
    limits: ServerLimits | None = None,
) -> ArenaSettings:
    """Return the settings of a private server, such as one that a ladder runs: no matchmaker, no engines of its own.

    host           address to listen on
    port           port to listen on; 0 for any free one
    database_url   URL of the store; None for a temporary one
    name           name of the server, under which its database holds its matches
    anyone         True to let bots use any name without a token
    proxies        addresses of proxies whose X-Forwarded-For is trusted
    grace_seconds  time for a disconnected bot to return, in seconds
    adjudication   rules that end matches early; None for none
    limits         limits on clients; None for `PRIVATE_SERVER_LIMITS`
    """
    return ArenaSettings(
        server=ServerSettings(host=host, port=port, name=name, anyone=anyone, proxies=tuple(proxies)),
        pool=PoolSettings(matchmaker=False, concurrency=1),
        matches=MatchSettings(
            grace_seconds=grace_seconds,
            adjudicate=NO_ADJUDICATION if adjudication is None else str(adjudication),
        ),
        house=HouseSettings(engines=()),
        store=StoreSettings(url=database_url or ""),
        limits=limits or PRIVATE_SERVER_LIMITS,
    )
