"""`arena serve`: run a server that pairs connected bots for matches."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated

import anyio
import typer

from arena.console import CommandError, UsageError, err
from arena.processes.tasks import open_background_tasks
from arena.server import interpreter
from arena.server.cluster.bus import BusError
from arena.server.commands import server_log
from arena.server.commands.hosting import ReloadableServer, read_server_configuration
from arena.server.commands.local_cluster import serve_local_cluster
from arena.server.commands.settings_file import (
    BadSetting,
    BadSettingsFile,
    CommandLineSetting,
    make_example_settings_file,
    parse_set_options,
)
from arena.server.edge.edge import CannotListen
from arena.server.settings import LogFormat, ProcessRole
from arena.server.shell.house_processes import HouseEngineError
from arena.server.store.errors import StoreError
from arena.server.store.lease import LeaseHeld


def serve(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="Settings file, e.g. arena.toml.", show_default=False),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option("--host", metavar="ADDRESS", help="Address to listen on; 0.0.0.0 for all interfaces."),
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", metavar="PORT", help="Port to listen on; 0: any free port.")
    ] = None,
    db: Annotated[
        str | None, typer.Option("--db", metavar="URL", help="Database URL, e.g. sqlite:///arena.db.")
    ] = None,
    role: Annotated[
        ProcessRole | None,
        typer.Option(
            "--role",
            metavar="edge|core",
            help="Role in a cluster: edge (connections) or core (matches); needs --set bus.url=…",
        ),
    ] = None,
    game: Annotated[
        str | None,
        typer.Option(
            "--game", metavar="GAME,GAME", help="Games in the matchmaking pool, separated by commas."
        ),
    ] = None,
    map: Annotated[
        str | None,
        typer.Option(
            "--map",
            metavar="MAP,MAP",
            help="Maps in the matchmaking pool, separated by commas (see `arena maps list`).",
        ),
    ] = None,
    tc: Annotated[
        str | None,
        typer.Option(
            "--tc",
            metavar="TIME,TIME",
            help="Time controls in the matchmaking pool, separated by commas, e.g. 10+0.1,0.1/move.",
        ),
    ] = None,
    anyone: Annotated[
        bool, typer.Option("--anyone", help="Let bots use any name without a token.", show_default=False)
    ] = False,
    tls_cert: Annotated[
        str | None, typer.Option("--tls-cert", metavar="FILE", help="TLS certificate chain (PEM).")
    ] = None,
    tls_key: Annotated[
        str | None, typer.Option("--tls-key", metavar="FILE", help="TLS private key (PEM).")
    ] = None,
    log: Annotated[
        LogFormat | None, typer.Option("--log", metavar="text|json", help="Log format: text or json.")
    ] = None,
    set: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="SECTION.KEY=VALUE",
            help="Override a setting, e.g. server.name=eu (docs/hosting.md); may be repeated.",
        ),
    ] = None,
    example_config: Annotated[
        bool,
        typer.Option(
            "--example-config", help="Print a commented settings file with all defaults.", show_default=False
        ),
    ] = False,
) -> None:
    """Host matches between bots, and a page to watch them.

    A bot needs a token (`arena token create NAME`), unless --anyone is given. Guests play the server's own engines
    on the page. After SIGTERM, the server lets matches end before it stops; unfinished ones continue at the next start.
    SIGHUP reloads FILE.

    Example: arena serve --host 0.0.0.0 --map world --tc 10+0.1
    """
    if example_config:
        typer.echo(make_example_settings_file(), nl=False)
        return
    shortcut_texts = {
        "--host": ("server.host", host),
        "--port": ("server.port", None if port is None else str(port)),
        "--db": ("store.url", db),
        "--role": ("server.role", None if role is None else role.value),
        "--game": ("pool.games", game),
        "--map": ("pool.maps", map),
        "--tc": ("pool.time_controls", tc),
        "--anyone": ("server.anyone", "true" if anyone else None),
        "--tls-cert": ("tls.cert", tls_cert),
        "--tls-key": ("tls.key", tls_key),
        "--log": ("log.format", log),
    }
    shortcuts = [
        CommandLineSetting(option, key, text)
        for option, (key, text) in shortcut_texts.items()
        if text is not None
    ]
    try:
        options = [*shortcuts, *parse_set_options(set or ())]
        configuration = read_server_configuration(file, options)
    except BadSettingsFile as error:
        raise UsageError(str(error)) from None
    if file is None and Path("arena.toml").is_file():
        err.print("note: arena.toml is not used; to use it, start the server with `arena serve arena.toml`")
    settings = configuration.settings
    server_log.configure_logging(settings.log)
    if settings.server.processes > 1:
        serve_local_cluster(settings, forward_sighup=file is not None)
    hosting = ReloadableServer(file, options, configuration)

    async def run_role() -> None:
        async with open_background_tasks() as tasks:
            if file is not None:
                tasks.start_soon(hosting.reload_on_sighup)
            match settings.server.role:
                case ProcessRole.EDGE:
                    await hosting.serve_edge()
                case ProcessRole.CORE:
                    await hosting.serve_core()
                case ProcessRole.ALL:
                    await hosting.serve()

    # rating.bradley_terry loads NumPy. Without this import, the first request for a table would wait a tenth of a second for it.
    import_module("arena.rating.bradley_terry")
    try:
        with interpreter.tuned_interpreter():
            anyio.run(run_role, backend_options={"use_uvloop": True})
    except LeaseHeld as error:
        raise CommandError(
            f"{error}. To run a second server on this store, give it another server.name"
        ) from None
    except (CannotListen, StoreError, BusError) as error:
        raise CommandError(str(error)) from None
    except HouseEngineError as error:
        raise UsageError(
            str(configuration.loaded_settings.make_located_error(BadSetting("house.engines", str(error))))
        ) from None
