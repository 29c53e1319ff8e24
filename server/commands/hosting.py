"""A host by its settings: opened as they say, and changed by SIGHUP while it runs."""

from __future__ import annotations

import logging
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_network
from pathlib import Path
from ssl import SSLContext

import anyio
import anyio.to_thread

from arena.console import Failure, err, out
from arena.games.catalogue import KNOWN
from arena.match.adjudication import lacks_table
from arena.protocol.adjudication import BadAdjudication
from arena.protocol.record import Record, to_line
from arena.server.bus.bus import Bus
from arena.server.commands.pool import offer_of
from arena.server.commands.serving import StopSignals, until_told_to_stop
from arena.server.commands.settings_file import BadSetting, BadSettings, GivenOption, load
from arena.server.commands.tls import load_certificate, tls_of
from arena.server.host import Host, open_host
from arena.server.lobby.house import HousePlan
from arena.server.lobby.matchmaking.matchmaker import OPEN_EVENT, Offer
from arena.server.lobby.roster import NONE, BadHouse, house_bots
from arena.server.net import log as logs
from arena.server.settings import RELOADED, TYPES, HouseSettings, Settings
from arena.server.store.database import file_of
from arena.server.store.retention import BadRetention

log = logging.getLogger("arena.settings")


@dataclass(frozen=True)
class Plan:
    """Settings, and the parts of a host that are made from them."""

    settings: Settings
    offer: Offer | None
    house: HousePlan
    tls: SSLContext | None


def read_plan(file: Path | None, given: Sequence[GivenOption]) -> Plan:
    """Read the settings and make the parts from them. Raises BadSettings, and Failure for an unusable certificate."""
    loaded = load(file, given)
    settings = loaded.settings
    try:
        offer = offer_of(settings.pool)
        _check_rules(settings, offer)
        _check_store(settings)
        _check_proxies(settings)
        house = _house(settings.house)
        tls = tls_of(settings.tls)
    except BadSetting as bad:
        raise loaded.explain(bad) from None
    return Plan(settings, offer if settings.pool.matchmaker else None, house, tls)


class Hosting:
    """A host and the settings in force."""

    def __init__(self, file: Path | None, given: Sequence[GivenOption], plan: Plan) -> None:
        """Host by a plan; `file` and `given` are read again on SIGHUP."""
        self.settings = plan.settings
        self._file = file
        self._given = given
        self._offer = plan.offer
        self._house = plan.house
        self._tls = plan.tls
        self._running: Host | None = None

    async def serve(self, stop: StopSignals, bus: Bus | None = None) -> None:
        """Serve until told to stop. Raises what `open_host` does."""
        async with open_host(
            self.settings,
            offer=self._offer,
            house=self._house,
            tls=self._tls,
            bus=bus,
            going_on=OPEN_EVENT,
            on_record=self._tell,
        ) as running:
            self._running = running
            err.print(f"listening on {running.url}", markup=False, soft_wrap=True)
            if running.resumed:
                grace = self.settings.matches.grace_seconds
                err.print(f"going on with {running.resumed} matches; their bots have {grace:g} s to return")
            try:
                await until_told_to_stop(running, stop)
            finally:
                self._running = None

    async def reload_on_sighup(self) -> None:
        """Read the file again on each SIGHUP, until cancelled."""
        with anyio.open_signal_receiver(signal.SIGHUP) as signals:
            async for _ in signals:
                try:
                    plan = await anyio.to_thread.run_sync(partial(read_plan, self._file, self._given))
                    if self._tls is not None and plan.tls is not None:
                        load_certificate(self._tls, plan.settings.tls)
                except (BadSettings, Failure) as error:
                    log.error("settings stay as they are: %s", error)  # noqa: TRY400  one line, not a stack
                else:
                    self._apply(plan)

    def _apply(self, plan: Plan) -> None:
        """Apply the changes that a running server can follow, and log them and the others."""
        changed = [key for key in TYPES if plan.settings.get(key) != self.settings.get(key)]
        applied = [key for key in changed if key in RELOADED and not self._turns_tls(key, plan)]
        for key in applied:
            self.settings.set(key, plan.settings.get(key))
        self._offer = plan.offer
        if self._running is not None:
            self._running.reconfigure(plan.offer)
        told = self.settings.log
        logs.set_up(told.format.value, verbose=told.verbose, wire=told.wire)
        left = [key for key in changed if key not in applied]
        log.warning(
            "settings read again: applied %s; a restart is needed for %s",
            ", ".join(applied) or "none",
            ", ".join(left) or "none",
        )

    def _turns_tls(self, key: str, plan: Plan) -> bool:
        """Return True if a key turns TLS on or off, which a listening server cannot."""
        return key.startswith("tls.") and (self._tls is None or plan.tls is None)

    async def _tell(self, record: Record) -> None:
        """Print the result of a match, and append its record to the file."""
        result, players = record.result, record.players
        winner = f"{result.winner} wins" if result.winner else "draw"
        # Not laid out by the console: on a busy server that would cost as much as some moves of the match.
        out.file.write(
            f"{players.maxie} - {players.minnie}: {winner}, {result.reason.value}, {len(record.moves)} plies\n"
        )
        out.file.flush()
        if self.settings.store.record:
            async with await anyio.open_file(self.settings.store.record, "a", encoding="utf-8") as lines:
                await lines.write(to_line(record) + "\n")


def _house(house: HouseSettings) -> HousePlan:
    """Return the plan of the house. Engines that the host names are tried at the start. Raises BadSetting."""
    try:
        bots = house_bots(",".join(house.engines) if house.engines else NONE)
    except BadHouse as error:
        raise BadSetting("house.engines", str(error)) from None
    named = house.engines != HouseSettings().engines
    return HousePlan(bots, guests=house.guests, check=named, games=KNOWN.specs())


def _check_rules(settings: Settings, offer: Offer) -> None:
    """Raise BadSetting for rules that cannot end a match of the pool."""
    try:
        rules = settings.matches.adjudication
    except BadAdjudication as error:
        raise BadSetting("matches.adjudicate", str(error)) from None
    for course in offer.courses:
        lacking = lacks_table(rules, course.game)
        if lacking is not None:
            raise BadSetting("matches.adjudicate", lacking)


def _check_store(settings: Settings) -> None:
    """Raise BadSetting for a store that servers cannot share, or that cannot keep what is asked."""
    store = settings.store
    several = "server.processes" if settings.server.processes > 1 else "bus.url" if settings.bus.url else ""
    if several and (not store.url or file_of(store.url) is not None):
        raise BadSetting(several, "several servers share a PostgreSQL: set store.url = postgresql://…")
    if store.archive and not store.keep:
        raise BadSetting("store.archive", "set store.keep too, as 90d or 1000000")
    archive = Path(store.archive)
    if store.archive and archive.exists() and not archive.is_dir():
        raise BadSetting("store.archive", f"{archive} is no folder")
    try:
        _ = store.retention
    except BadRetention as error:
        raise BadSetting("store.keep", str(error)) from None


def _check_proxies(settings: Settings) -> None:
    """Raise BadSetting for what is no address or network."""
    try:
        for each in settings.server.proxies:
            ip_network(each)
    except ValueError as error:
        raise BadSetting("server.proxies", str(error)) from None
