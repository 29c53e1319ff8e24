"""`arena serve`: a server that bots dial into, and that keeps them busy with each other."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated

import anyio
import typer

from arena.console import Failure, Misuse
from arena.server.bus.bus import BusError
from arena.server.commands.hosting import Hosting, read_plan
from arena.server.commands.processes import serve_processes
from arena.server.commands.serving import StopSignals, in_arena
from arena.server.commands.settings_file import BadSettings, GivenOption, example, given_by_set
from arena.server.host import CannotListen
from arena.server.lobby.roster import BadHouse
from arena.server.net import interpreter
from arena.server.net import log as logs
from arena.server.processes.tasks import cancelled_at_exit
from arena.server.settings import LogFormat
from arena.server.store.database import StoreError
from arena.server.store.lease import NameHeld


def register(app: typer.Typer) -> None:
    """Add `arena serve`."""
    app.command("serve")(serve)


def serve(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Settings, as arena.toml.", show_default=False)
    ] = None,
    host: Annotated[
        str | None, typer.Option("--host", metavar="ADDRESS", help="Address to listen on; 0.0.0.0 for all.")
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", metavar="PORT", help="Port; 0 for any free one.")
    ] = None,
    db: Annotated[
        str | None, typer.Option("--db", metavar="URL", help="Database, as sqlite:///arena.db.")
    ] = None,
    game: Annotated[
        str | None, typer.Option("--game", metavar="GAME,GAME", help="Games of the pool.")
    ] = None,
    map: Annotated[
        str | None, typer.Option("--map", metavar="MAP,MAP", help="Maps of the pool (`arena maps list`).")
    ] = None,
    tc: Annotated[
        str | None, typer.Option("--tc", metavar="TIME,TIME", help="Time controls, as 10+0.1 or 0.1/move.")
    ] = None,
    anyone: Annotated[
        bool, typer.Option("--anyone", help="Let any name in without a token.", show_default=False)
    ] = False,
    tls_cert: Annotated[
        str | None, typer.Option("--tls-cert", metavar="FILE", help="Certificate chain (PEM).")
    ] = None,
    tls_key: Annotated[
        str | None, typer.Option("--tls-key", metavar="FILE", help="Private key (PEM).")
    ] = None,
    log: Annotated[
        LogFormat | None, typer.Option("--log", metavar="text|json", help="Form of the log.")
    ] = None,
    set: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Any other setting; repeatable."),
    ] = None,
    example_config: Annotated[
        bool, typer.Option("--example-config", help="Print a file of all settings.", show_default=False)
    ] = False,
) -> None:
    """Host matches: idle bots play near opponents that they seldom met.

    A bot needs a token (`arena token create NAME`), unless --anyone is given. Guests play the server's own
    engines on the page. SIGTERM drains: unfinished matches go on at the next start. SIGHUP reads FILE again.

    Example: arena serve --host 0.0.0.0 --map world --tc 10+0.1
    """
    if example_config:
        typer.echo(example(), nl=False)
        return
    words = {
        "--host": ("server.host", host),
        "--port": ("server.port", None if port is None else str(port)),
        "--db": ("store.url", db),
        "--game": ("pool.games", game),
        "--map": ("pool.maps", map),
        "--tc": ("pool.time_controls", tc),
        "--anyone": ("server.anyone", "true" if anyone else None),
        "--tls-cert": ("tls.cert", tls_cert),
        "--tls-key": ("tls.key", tls_key),
        "--log": ("log.format", log),
    }
    named = [GivenOption(option, key, text) for option, (key, text) in words.items() if text is not None]
    try:
        given = [*named, *given_by_set(set or ())]
        plan = read_plan(file, given)
    except BadSettings as error:
        raise Misuse(str(error)) from None
    settings = plan.settings
    logs.set_up(settings.log.format.value, verbose=settings.log.verbose, wire=settings.log.wire)
    if settings.server.processes > 1:
        serve_processes(settings, reloads=file is not None)
    hosting, stop = Hosting(file, given, plan), StopSignals()

    async def main() -> None:
        with closing(stop):
            async with cancelled_at_exit() as tasks:
                if file is not None:
                    tasks.start_soon(hosting.reload_on_sighup)
                if settings.bus.url:
                    await in_arena(settings, partial(hosting.serve, stop), stop)
                else:
                    await hosting.serve(stop)

    # Whoever is the first to ask for a table of an event would wait a tenth of a second for NumPy.
    import_module("arena.rating.bradley_terry")
    try:
        with interpreter.settled():
            anyio.run(main, backend_options={"use_uvloop": True})
    except NameHeld as error:
        raise Failure(f"{error}; a second server on one store needs a server.name of its own") from None
    except (CannotListen, StoreError, BusError) as error:
        raise Failure(str(error)) from None
    except BadHouse as error:
        raise Misuse(f"house.engines: {error}") from None
