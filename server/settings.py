"""Settings of a host, one struct for each section of `arena.toml`; `arena serve --example-config` prints them all.

Each field's description is its comment in that file, and its name ends in its unit. A text of nothing stands for none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct, field
from msgspec.structs import fields

from arena.cores import cores
from arena.maps.setup import DEFAULT_MAP
from arena.protocol.adjudication import DEFAULT_RULES, NONE, REPETITION, Adjudication
from arena.server.lobby.roster import DEFAULT
from arena.server.net.limits import PRIVATE, HostLimits
from arena.server.rooms.disclosure import Disclosure
from arena.server.store.retention import Retention


class LogFormat(StrEnum):
    """Form of the log."""

    TEXT = "text"
    JSON = "json"


class ServerSettings(Struct, kw_only=True, forbid_unknown_fields=True):
    """Process and its address."""

    host: Annotated[str, Meta(description="Address to listen on; 0.0.0.0 for all.")] = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535, description="Port; 0 for any free one.")] = 8765
    reuse_port: Annotated[bool, Meta(description="Share the port with other servers of the same user.")] = (
        False
    )
    metrics_port: Annotated[
        int,
        Meta(ge=0, le=65535, description="Loopback port, as for metrics; process i uses PORT + i. 0: none."),
    ] = 0
    processes: Annotated[
        int, Meta(ge=1, le=256, description="Processes behind one port; several need PostgreSQL.")
    ] = 1
    name: Annotated[str, Meta(description="Name of the server, where several share one database.")] = ""
    proxies: Annotated[
        tuple[str, ...],
        Meta(description="Addresses or networks of proxies whose X-Forwarded-For is believed."),
    ] = ()
    anyone: Annotated[bool, Meta(description="Let any name in without a token: for a private network.")] = (
        False
    )
    drain_seconds: Annotated[
        float, Meta(ge=0, description="Time for matches to end after SIGTERM or Ctrl-C.")
    ] = 10.0


class PoolSettings(Struct, kw_only=True, forbid_unknown_fields=True):
    """Matches that the matchmaker arranges."""

    games: Annotated[
        tuple[str, ...], Meta(description="Games, one after another: names, or FILE.py:Class.")
    ] = ("riskless",)
    maps: Annotated[tuple[str, ...], Meta(description="Maps of Riskless (`arena maps list`).")] = (
        DEFAULT_MAP,
    )
    time_controls: Annotated[
        tuple[str, ...], Meta(description="Time controls, in seconds: 10+0.1 or 0.1/move.")
    ] = ("10+0.1",)
    openings: Annotated[
        str, Meta(description="Openings: shipped, none, a number of random plies, or a file.")
    ] = "shipped"
    pause_seconds: Annotated[float, Meta(ge=0, description="Time between matches of the same two bots.")] = (
        5.0
    )
    margin_ms: Annotated[int, Meta(ge=0, le=60_000, description="Network grace on the clock.")] = 100
    ready_seconds: Annotated[float, Meta(ge=1, le=600, description="Time for a bot to get ready.")] = 30.0
    rated: Annotated[bool, Meta(description="Rate the matches of the pool.")] = True
    matchmaker: Annotated[bool, Meta(description="Arrange matches; false: challenges only.")] = True
    concurrency: Annotated[int, Meta(ge=0, description="Matches at once; 0: as many as the cores allow.")] = 0


class MatchSettings(Struct, kw_only=True, forbid_unknown_fields=True):
    """All matches, those of challenges too."""

    grace_seconds: Annotated[
        float, Meta(ge=0, le=3600, description="Time for a lost bot to return, and for the store.")
    ] = 30.0
    adjudicate: Annotated[
        str, Meta(description="Rules that end matches early, as repetition=3,win=500,limit=200; or none.")
    ] = str(DEFAULT_RULES)
    thinking: Annotated[
        Disclosure,
        Meta(description="Analysis of bots is public after the reply, or at the end of the match."),
    ] = Disclosure.REPLY
    answer_seconds: Annotated[
        float, Meta(ge=0, le=60, description="Time to answer a challenge before the pool has another match.")
    ] = 2.0

    @property
    def adjudication(self) -> Adjudication | None:
        """The rules; None for none. Raises BadAdjudication."""
        return Adjudication.parse(self.adjudicate)


class HouseSettings(Struct, kw_only=True, forbid_unknown_fields=True):
    """Engines that the server runs."""

    engines: Annotated[
        tuple[str, ...], Meta(description="Engines of the server for everybody to challenge; [] for none.")
    ] = tuple(DEFAULT.split(","))
    guests: Annotated[bool, Meta(description="Let guests without a token play these engines.")] = True


class StoreSettings(Struct, kw_only=True, forbid_unknown_fields=True):
    """Database and files of matches."""

    url: Annotated[str, Meta(description="Database URL; empty: a store that goes when the server stops.")] = (
        "sqlite:///arena.db"
    )
    record: Annotated[str, Meta(description="File for finished matches, one JSON object a line.")] = ""
    keep: Annotated[str, Meta(description="Finished matches to keep, as 90d or 1000000; empty: all.")] = ""
    archive: Annotated[
        str, Meta(description="Folder for the matches that `keep` removes; empty: delete them.")
    ] = ""
    backup: Annotated[bool, Meta(description="Back up the store before a new version changes it.")] = True

    @property
    def retention(self) -> Retention | None:
        """The matches to keep; None for all. Raises BadRetention."""
        return Retention.parse(self.keep, Path(self.archive) if self.archive else None) if self.keep else None


class BusSettings(Struct, kw_only=True, forbid_unknown_fields=True):
    """NATS of an arena of several servers."""

    url: Annotated[
        str, Meta(description="NATS of several servers on one PostgreSQL, as nats://HOST:4222.")
    ] = ""
    ca: Annotated[str, Meta(description="CA bundle for the NATS connection (PEM); empty: the system's.")] = ""


class TlsSettings(Struct, kw_only=True, forbid_unknown_fields=True):
    """Certificate of the server."""

    cert: Annotated[str, Meta(description="Certificate chain (PEM); empty: no TLS.")] = ""
    key: Annotated[str, Meta(description="Private key of the certificate (PEM).")] = ""


class LogSettings(Struct, kw_only=True, forbid_unknown_fields=True):
    """Log on stderr."""

    format: Annotated[LogFormat, Meta(description="Form of a line: text or json.")] = LogFormat.TEXT
    verbose: Annotated[bool, Meta(description="Log connections too; json always does.")] = False
    wire: Annotated[bool, Meta(description="Log every message, without secrets.")] = False


class Settings(Struct, kw_only=True, forbid_unknown_fields=True):
    """Settings of one host."""

    server: ServerSettings = field(default_factory=ServerSettings)
    pool: PoolSettings = field(default_factory=PoolSettings)
    matches: MatchSettings = field(default_factory=MatchSettings)
    house: HouseSettings = field(default_factory=HouseSettings)
    store: StoreSettings = field(default_factory=StoreSettings)
    bus: BusSettings = field(default_factory=BusSettings)
    tls: TlsSettings = field(default_factory=TlsSettings)
    log: LogSettings = field(default_factory=LogSettings)
    limits: HostLimits = field(default_factory=HostLimits)

    def get(self, key: str) -> object:
        """Return the value of a key."""
        section, _, name = key.partition(".")
        return getattr(getattr(self, section), name)

    def set(self, key: str, value: object) -> None:
        """Change the value of a key."""
        section, _, name = key.partition(".")
        setattr(getattr(self, section), name, value)


TYPES: Mapping[str, Any] = {
    f"{section.name}.{each.name}": each.type for section in fields(Settings) for each in fields(section.type)
}
"""By key, as `server.port`, the type of its value with the range and the description."""

RELOADED = frozenset(
    {
        "server.drain_seconds",
        "matches.adjudicate",
        "matches.thinking",
        "store.record",
        "store.keep",
        "store.archive",
        "tls.cert",
        "tls.key",
        *(f"pool.{each.name}" for each in fields(PoolSettings)),
        *(f"log.{each.name}" for each in fields(LogSettings)),
        *(
            f"limits.{each}"
            for each in (
                "connections",
                "connections_per_address",
                "message_bytes",
                "messages_per_second",
                "message_burst",
                "moves_per_second",
                "hello_seconds",
                "watched",
            )
        ),
    }
)
"""Keys that take effect on SIGHUP; the others need a restart."""


def concurrency_of(pool: PoolSettings) -> tuple[int, bool]:
    """Return how much the matches at once may weigh, and whether a match weighs as many threads as it needs."""
    return pool.concurrency or len(cores()), not pool.concurrency


def private(
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    database: str | None = None,
    name: str = "",
    anyone: bool = False,
    proxies: Sequence[str] = (),
    concurrency: int = 1,
    grace_seconds: float = 5.0,
    adjudication: Adjudication | None = None,
    limits: HostLimits | None = None,
) -> Settings:
    """Return the settings of a host for its owner's own bots, as of a ladder: no matchmaker and no house.

    database: URL of the store; None for one that goes with the host
    """
    return Settings(
        server=ServerSettings(host=host, port=port, name=name, anyone=anyone, proxies=tuple(proxies)),
        pool=PoolSettings(matchmaker=False, concurrency=concurrency),
        matches=MatchSettings(grace_seconds=grace_seconds, adjudicate=_written(adjudication)),
        house=HouseSettings(engines=()),
        store=StoreSettings(url=database or ""),
        limits=limits or PRIVATE,
    )


def _written(rules: Adjudication | None) -> str:
    """Return rules as `Adjudication.parse` reads them back: it takes repetition for on unless told otherwise."""
    if rules is None:
        return NONE
    return str(rules) if rules.repetition else f"{rules},{REPETITION}={NONE}"
