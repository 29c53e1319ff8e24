"""Run a server, or one process of a cluster, with its settings, and reload the settings on SIGHUP."""

from __future__ import annotations

import logging
import re
import signal
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from ipaddress import ip_network
from pathlib import Path

import anyio
import anyio.to_thread

from arena import user_paths
from arena.atomic_file import append_line_to_path
from arena.clock import MONOTONIC_CLOCK
from arena.console import CommandError, err, out
from arena.games.catalogue import CATALOGUE
from arena.match.adjudication import explain_missing_tablebase
from arena.processes.tasks import open_background_tasks
from arena.protocol.adjudication import BadAdjudication
from arena.protocol.record import Record, format_record_line
from arena.server.cluster.bus import BusError
from arena.server.cluster.core_link import LeadershipLost
from arena.server.commands import server_log
from arena.server.commands.lifecycle import STOP_SIGNALS, serve_until_signal
from arena.server.commands.pool import make_matchmaking_pool
from arena.server.commands.settings_file import (
    BadSetting,
    BadSettingsFile,
    CommandLineSetting,
    LoadedSettings,
    load_settings,
)
from arena.server.core.settings import OPEN_POOL_EVENT_NAME, Pool
from arena.server.edge.addresses import LOOPBACK_ADDRESS, choose_reachable_host
from arena.server.host import ArenaServer, open_arena_server
from arena.server.roles import check_bus_and_store_connections, open_edge, open_leader
from arena.server.settings import (
    MAX_PORT,
    RELOADABLE_SETTING_KEYS,
    SETTING_TYPES,
    ArenaSettings,
    HouseSettings,
    ProcessRole,
    ServerSettings,
    TlsSettings,
    WebhookSettings,
)
from arena.server.shell.house_processes import HouseEngineError, HouseEnginePlan, parse_house_engines
from arena.server.shell.webhooks import BadWebhookSetting, parse_signing_key, parse_webhook_url
from arena.server.store.database import parse_sqlite_path
from arena.server.store.errors import StoreError, describe_store_failure, is_transient_error
from arena.server.store.lease import LeaseLost
from arena.server.store.pruning import BadRetention

log = logging.getLogger("arena.settings")

PAUSE_BEFORE_STANDBY_SECONDS = 0.25
"""Pause after a core process has lost the lead or failed, before it tries again to become the leader, in seconds."""


@dataclass(frozen=True)
class ServerConfiguration:
    """Settings of a server, and the objects made from them: the games to pair bots for, the server's own engines, and TLS."""

    loaded_settings: LoadedSettings
    matchmaking_pool: Pool | None
    """Games, maps and time controls for which the matchmaker pairs bots; None without a matchmaker."""
    house_engine_plan: HouseEnginePlan
    """Engines (bots) that the server runs itself."""
    tls_context: ssl.SSLContext | None
    """TLS context for clients' connections; None without a certificate."""

    @property
    def settings(self) -> ArenaSettings:
        """Values of all settings, without the places (file or option) where they were set."""
        return self.loaded_settings.settings


ALLOWED_ORIGIN_PATTERN = re.compile(r"https?://[a-z0-9.:\[\]_-]+")
"""Pattern of an origin as browsers send it: without a path or a final slash."""


def read_server_configuration(
    settings_file: Path | None, options: Sequence[CommandLineSetting]
) -> ServerConfiguration:
    """Read and check the settings of a server.

    Make the games for the matchmaker, the plan of house engines and the TLS context from them.

    settings_file  settings file; None for the defaults
    options        settings on the command line, which override the file

    Raises BadSettingsFile if a setting is invalid, and CommandError if the certificate cannot be used.
    """
    loaded_settings = load_settings(settings_file, options)
    settings = loaded_settings.settings
    try:
        pool = make_matchmaking_pool(settings.pool)
        _require_adjudication_possible_in_pool(settings, pool)
        _require_usable_store_settings(settings)
        _require_distinct_ports(settings.server)
        _require_valid_proxies(settings)
        _require_valid_origins(settings)
        _require_valid_webhook_settings(settings.webhooks)
        house = _make_house_engine_plan(settings.house)
        tls = make_tls_context(settings.tls)
    except BadSetting as bad:
        raise loaded_settings.make_located_error(bad) from None
    return ServerConfiguration(loaded_settings, pool if settings.pool.matchmaker else None, house, tls)


class ReloadableServer:
    """Runner of a whole server, or of the edge or core process of a cluster, which reloads the settings on SIGHUP."""

    def __init__(
        self, file: Path | None, options: Sequence[CommandLineSetting], configuration: ServerConfiguration
    ) -> None:
        """Prepare a server process with the settings of `configuration`. On SIGHUP, `file` and `options` are read again."""
        self.settings = configuration.settings
        self._settings_file = file
        self._options = options
        self._pool = configuration.matchmaking_pool
        self._house_engine_plan = configuration.house_engine_plan
        self._tls_context = configuration.tls_context
        self._host: ArenaServer | None = None
        self._failed_output_names: frozenset[str] = frozenset()
        """Outputs (standard output, or the path of the record file) to which the last match result could not be written."""

    async def serve(self) -> None:
        """Serve until stopped.

        Raises HouseEngineError if one of the server's own engines cannot be started. Raises CannotListen, StoreError, LeaseHeld
        and LeaseLost as `open_arena_server` does.
        """
        await self._test_house_engines()
        async with (
            open_arena_server(
                self.settings,
                pool=self._pool,
                house_engine_plan=self._house_engine_plan,
                tls=self._tls_context,
                resumed_event_name=OPEN_POOL_EVENT_NAME,
                on_record=self.write_match_result,
            ) as host,
            host.open_house_engines(),
        ):
            self._host = host
            err.print(f"listening on {host.url}")
            err.print(f"the page is at {host.url.replace('ws', 'http', 1)}")
            if count := host.shell.resumed_match_count:
                grace_seconds = self.settings.matches.grace_seconds
                err.print(f"continuing {count} matches; their bots have {grace_seconds:g} s to reconnect")
            try:
                await serve_until_signal(host)
            finally:
                self._host = None

    async def serve_edge(self) -> None:
        """Serve as an edge process of a cluster (which holds connections of clients) until stopped.

        Raises CannotListen if an address cannot be used, and BusError or StoreError if NATS or the store is unavailable.
        """
        async with open_edge(
            self.settings, house_engine_plan=self._house_engine_plan, tls=self._tls_context
        ) as (
            _,
            address,
        ):
            err.print(f"an edge listens on {address}")
            with anyio.open_signal_receiver(*STOP_SIGNALS) as signals:
                await anext(signals)

    async def serve_core(self) -> None:
        """Serve as a core process of a cluster until stopped. The leader runs the matches; the others wait to replace it.

        Raises HouseEngineError if one of the server's own engines cannot be started, and CannotListen if an address cannot
        be used. Raises BusError or StoreError if NATS or the store is unavailable at the start; later, the core tries again.
        """
        with anyio.open_signal_receiver(*STOP_SIGNALS) as signals:
            async with open_background_tasks() as tasks:

                async def stop_on_signal() -> None:
                    await anext(signals)
                    tasks.cancel_scope.cancel()

                tasks.start_soon(stop_on_signal)
                await check_bus_and_store_connections(self.settings)
                await self._test_house_engines()
                while True:
                    try:
                        await self._serve_as_leader()
                    except (LeaseLost, LeadershipLost) as error:
                        log.warning("%s; this core stands by", error)
                    except Exception as error:
                        if not (isinstance(error, StoreError | BusError) or is_transient_error(error)):
                            raise
                        log.warning("%s; trying again", describe_store_failure(error) or error)
                    await MONOTONIC_CLOCK.sleep(PAUSE_BEFORE_STANDBY_SECONDS)

    async def _test_house_engines(self) -> None:
        """Start each of the server's own engines on a temporary private server, as a test, before the real server opens.

        Raises HouseEngineError if one of them cannot be started.
        """
        if self._house_engine_plan.engines and self._house_engine_plan.checks_engines_at_start:
            async with (
                open_arena_server(house_engine_plan=self._house_engine_plan) as host,
                host.open_house_engines(),
            ):
                pass
        self._house_engine_plan = replace(self._house_engine_plan, checks_engines_at_start=False)

    async def _serve_as_leader(self) -> None:
        async with open_leader(
            self.settings,
            pool=self._pool,
            house_engine_plan=self._house_engine_plan,
            on_record=self.write_match_result,
        ) as host:
            self._host = host
            try:
                await anyio.sleep_forever()
            finally:
                self._host = None

    async def reload_on_sighup(self) -> None:
        """Reload the settings on each SIGHUP, until cancelled. Invalid settings are logged, and the old ones stay."""
        with anyio.open_signal_receiver(signal.SIGHUP) as signals:
            async for _ in signals:
                try:
                    configuration = await anyio.to_thread.run_sync(
                        partial(read_server_configuration, self._settings_file, self._options)
                    )
                    if self._tls_context is not None and configuration.tls_context is not None:
                        load_tls_certificate(self._tls_context, configuration.settings.tls)
                except (BadSettingsFile, CommandError) as error:
                    log.error("settings not reloaded: %s", error)  # noqa: TRY400  one line, not a stack
                else:
                    self._apply_reloaded_settings(configuration)

    def _apply_reloaded_settings(self, configuration: ServerConfiguration) -> None:
        """Apply the changed settings that need no restart, and log which were applied and which need a restart."""
        changed_keys = [
            key
            for key in SETTING_TYPES
            if configuration.settings.get_setting(key) != self.settings.get_setting(key)
        ]
        applied_keys = [
            key
            for key in changed_keys
            if key in RELOADABLE_SETTING_KEYS and not self._turns_tls_on_or_off(key, configuration)
        ]
        for key in applied_keys:
            self.settings.change_setting(key, configuration.settings.get_setting(key))
        self._pool = configuration.matchmaking_pool
        if self._host is not None:
            self._host.apply_changed_settings(configuration.matchmaking_pool)
        server_log.configure_logging(self.settings.log)
        postponed_keys = [key for key in changed_keys if key not in applied_keys]
        log.warning(
            "settings reloaded: applied %s; %s",
            ", ".join(applied_keys) or "none",
            f"a restart is needed for {', '.join(postponed_keys)}"
            if postponed_keys
            else "no restart is needed",
        )

    def _turns_tls_on_or_off(self, setting_key: str, configuration: ServerConfiguration) -> bool:
        """Return True if the changed setting `setting_key` turns TLS on or off, which needs a restart."""
        return setting_key.startswith("tls.") and (
            self._tls_context is None or configuration.tls_context is None
        )

    async def write_match_result(self, record: Record) -> None:
        """Print the result of a match, and append its record to the file named by the setting `store.record`, if any.

        If an output fails, for example because the disk is full, log it once. The record is not lost, because the store has it.
        """
        result, players = record.result, record.players
        winner = f"{result.winner} wins" if result.winner else "draw"
        faults = {}
        try:
            # Written directly, because the console's layout would cost as much as some moves of the match.
            out.file.write(
                f"{players.maxie} - {players.minnie}: {winner}, {result.reason.value}, {len(record.moves)} plies\n"
            )
            out.file.flush()
        except OSError as error:
            faults["standard output"] = error.strerror
        if path := self.settings.store.record:
            try:
                await anyio.to_thread.run_sync(append_line_to_path, Path(path), format_record_line(record))
            except OSError as error:
                faults[path] = error.strerror
        if faults.keys() - self._failed_output_names:
            log.warning(
                "finished matches are only in the store, because they cannot be written elsewhere: %s",
                "; ".join(f"{name}: {reason}" for name, reason in faults.items()),
            )
        self._failed_output_names = frozenset(faults)


def make_tls_context(tls: TlsSettings) -> ssl.SSLContext | None:
    """Return the TLS context; None without a certificate.

    Raises BadSetting if only one of certificate and key is set, and CommandError if a file cannot be used.
    """
    if not tls.cert and not tls.key:
        return None
    if not tls.key:
        raise BadSetting("tls.cert", "a certificate needs its private key: set tls.key too (--tls-key)")
    if not tls.cert:
        raise BadSetting("tls.key", "a private key needs its certificate: set tls.cert too (--tls-cert)")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    load_tls_certificate(context, tls)
    return context


def load_tls_certificate(context: ssl.SSLContext, tls: TlsSettings) -> None:
    """Load the certificate and key of `tls` into `context`, for new connections. Raises CommandError if a file is unusable."""
    try:
        for file in (tls.cert, tls.key):  # the errors of load_cert_chain do not say which file is missing
            Path(file).open("rb").close()
    except OSError as error:
        raise CommandError(f"cannot read {error.filename}: {error.strerror}") from None
    try:
        context.load_cert_chain(tls.cert, tls.key)
    except (OSError, ssl.SSLError) as error:
        # OpenSSL's error messages, such as "PEM lib", name neither the cause nor the remedy.
        bad_files = isinstance(error, ssl.SSLError)
        why = (
            "they must be a certificate and its own key, both in PEM"
            if bad_files
            else error.strerror or str(error)
        )
        raise CommandError(f"cannot use {tls.cert} with {tls.key}: {why}") from None


def _make_house_engine_plan(house: HouseSettings) -> HouseEnginePlan:
    """Return the engines that the server runs itself, with options for running them. Raises BadSetting for an invalid list.

    Engines other than the default ones are tested before the server starts.
    """
    try:
        engines = parse_house_engines(house.engines)
    except HouseEngineError as error:
        raise BadSetting("house.engines", str(error)) from None
    is_custom = house.engines != HouseSettings().engines
    return HouseEnginePlan(
        engines,
        admits_guests=house.guests and bool(engines),
        checks_engines_at_start=is_custom,
        game_names=CATALOGUE.list_file_game_specs(),
    )


def _require_adjudication_possible_in_pool(settings: ArenaSettings, pool: Pool) -> None:
    """Raise BadSetting if a rule for ending matches early is invalid, or does not fit a game that the matchmaker may choose."""
    try:
        adjudication = settings.matches.adjudication
    except BadAdjudication as error:
        raise BadSetting("matches.adjudicate", str(error)) from None
    for game in pool.games:
        reason = explain_missing_tablebase(adjudication, game.game)
        if reason is not None:
            raise BadSetting("matches.adjudicate", f"the adjudication rule `table` cannot be used: {reason}")


def _require_usable_store_settings(settings: ArenaSettings) -> None:
    """Raise BadSetting if settings of the store, the bus (NATS) and the number of processes contradict each other."""
    store = settings.store
    server_settings = settings.server
    process_setting = (
        "server.role"
        if server_settings.role is not ProcessRole.ALL
        else "server.processes"
        if server_settings.processes > 1
        else ""
    )
    if process_setting and (not store.url or parse_sqlite_path(store.url) is not None):
        raise BadSetting(
            process_setting, "edges and cores share one PostgreSQL database: set store.url = postgresql://…"
        )
    if server_settings.role is not ProcessRole.ALL and not settings.bus.url:
        raise BadSetting("server.role", "edges and cores need a NATS server: set bus.url = nats://HOST:4222")
    if server_settings.role is not ProcessRole.ALL and server_settings.processes > 1:
        raise BadSetting(
            "server.role",
            "a server with server.processes > 1 starts processes of all roles: leave out server.role or server.processes",
        )
    if settings.bus.url and not process_setting:
        raise BadSetting(
            "bus.url",
            "a single process needs no NATS server: leave bus.url out, or set server.role or server.processes",
        )
    if store.archive and not store.keep:
        raise BadSetting(
            "store.archive",
            "has an effect only with store.keep: set store.keep to an age or a number of matches, such as 90d or 1000000",
        )
    if not user_paths.is_folder(Path(store.record).parent):
        raise BadSetting(
            "store.record", f"folder {Path(store.record).parent} does not exist; create it first"
        )
    archive = Path(store.archive)
    if store.archive and user_paths.exists(archive) and not user_paths.is_folder(archive):
        raise BadSetting("store.archive", f"{archive} is not a folder: name a folder for removed matches")
    try:
        _ = store.retention
    except BadRetention as error:
        raise BadSetting("store.keep", str(error)) from None


def _require_distinct_ports(server: ServerSettings) -> None:
    """Raise BadSetting if the metrics port of a process is above MAX_PORT, or is the port to which clients connect.

    The first process has the port `server.metrics_port`, and each further process has the next port.
    """
    if not server.metrics_port:
        return
    last_port = server.metrics_port + server.processes - 1
    if last_port > MAX_PORT:
        raise BadSetting(
            "server.metrics_port",
            f"the ports of {server.processes} processes end at {last_port}, above {MAX_PORT}: choose a lower one",
        )
    clients_host = choose_reachable_host(server.host)
    is_shared = clients_host in (LOOPBACK_ADDRESS, "localhost") and server.role is not ProcessRole.CORE
    if is_shared and server.metrics_port <= server.port <= last_port:
        raise BadSetting(
            "server.metrics_port", f"port {server.port} is server.port already: choose another port"
        )


def _require_valid_proxies(settings: ArenaSettings) -> None:
    for proxy in settings.server.proxies:
        try:
            ip_network(proxy)
        except ValueError as error:
            raise BadSetting(
                "server.proxies", f"{error}: write an address or a network, such as 127.0.0.1 or 10.0.0.0/8"
            ) from None


def _require_valid_origins(settings: ArenaSettings) -> None:
    for origin in settings.server.origins:
        if origin != "*" and not ALLOWED_ORIGIN_PATTERN.fullmatch(origin):
            raise BadSetting("server.origins", f"{origin!r:.70} is not an origin: write https://HOST, or *")


def _require_valid_webhook_settings(settings: WebhookSettings) -> None:
    for name, parse in (("url", parse_webhook_url), ("secret", parse_signing_key)):
        if settings.url or settings.secret:
            try:
                parse(getattr(settings, name))
            except BadWebhookSetting as error:
                raise BadSetting(f"webhooks.{name}", str(error)) from None
