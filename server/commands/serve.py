"""`arena serve`: a server that bots dial into, and that keeps them busy with each other."""

from __future__ import annotations

from contextlib import closing
from enum import StrEnum
from importlib import import_module
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated

import anyio
import typer

from arena.console import (
    AdjudicateOption,
    ConcurrencyOption,
    DatabaseOption,
    Failure,
    MarginOption,
    Misuse,
    RecordOption,
    err,
    out,
)
from arena.cores import cores
from arena.games.catalogue import KNOWN
from arena.games.core import GameError
from arena.maps.loader import MapError
from arena.maps.openings import BadOpenings
from arena.maps.setup import DEFAULT_MAP
from arena.match.adjudication import lacks_table
from arena.protocol.adjudication import DEFAULT_RULES, Adjudication, BadAdjudication
from arena.protocol.record import Record, to_line
from arena.protocol.timecontrol import BadTimeControl
from arena.server.bus.bus import Bus, BusError
from arena.server.commands.courses import SHIPPED, BadCourses, courses_of
from arena.server.commands.processes import (
    OwnPortOption,
    ProcessesOption,
    ReusePortOption,
    leave_to_processes,
    option_of_many,
)
from arena.server.commands.retention import retention_of
from arena.server.commands.serving import StopSignals, in_arena, require_shared, until_told_to_stop
from arena.server.commands.tls import tls_of
from arena.server.host import CannotListen, open_host
from arena.server.lobby.house import HousePlan
from arena.server.lobby.matchmaking.matchmaker import OPEN_EVENT, Offer
from arena.server.lobby.roster import DEFAULT, BadHouse, house_bots
from arena.server.net import interpreter
from arena.server.net import log as logs
from arena.server.net.limits import HostLimits
from arena.server.rooms.disclosure import Disclosure
from arena.server.store.database import StoreError
from arena.server.store.lease import NameHeld

SAFE = HostLimits()


class LogForm(StrEnum):
    """How the log is written."""

    TEXT = "text"
    JSON = "json"


def register(app: typer.Typer) -> None:
    """Add `arena serve`."""
    app.command("serve")(serve)


def serve(
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on; 0.0.0.0 for all.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="PORT", min=0, max=65535, help="Port; 0 for any free one.")
    ] = 8765,
    reuse_port: ReusePortOption = False,
    own_port: OwnPortOption = 0,
    processes: ProcessesOption = 1,
    game: Annotated[
        str, typer.Option("--game", metavar="GAME,GAME", help="What the pool plays, one after another.")
    ] = "riskless",
    map: Annotated[
        str,
        typer.Option(
            "--map", metavar="MAP,MAP", help="The maps of Riskless in the pool (`arena maps list`)."
        ),
    ] = DEFAULT_MAP,
    tc: Annotated[
        str,
        typer.Option(
            "--tc", metavar="TIME,TIME", help="The time controls of the pool, as 10+0.1 or 0.1/move."
        ),
    ] = "10+0.1",
    openings: Annotated[
        str,
        typer.Option(
            "--openings",
            metavar="shipped|none|N|FILE",
            help="How the pool's matches begin, in pairs with the seats swapped: as each map brings with it, at the "
            "start, after N random plies, or by a file. What ships none begins with random ones.",
        ),
    ] = SHIPPED,
    pause: Annotated[
        float,
        typer.Option(
            "--pause", metavar="SECONDS", min=0, help="Seconds between matches of the same two bots."
        ),
    ] = 5.0,
    margin: MarginOption = 100,
    ready: Annotated[
        int,
        typer.Option(
            "--ready", metavar="SECONDS", min=1, max=600, help="Seconds a bot may take to get ready."
        ),
    ] = 30,
    grace: Annotated[
        int,
        typer.Option(
            "--grace", metavar="SECONDS", min=0, max=3600, help="Seconds a lost bot may take to return."
        ),
    ] = 30,
    drain: Annotated[
        float,
        typer.Option(
            "--drain",
            metavar="SECONDS",
            min=0,
            help="Seconds that matches may go on after SIGTERM or Ctrl-C.",
        ),
    ] = 10,
    concurrency: ConcurrencyOption = 0,
    adjudicate: AdjudicateOption = str(DEFAULT_RULES),
    name: Annotated[
        str,
        typer.Option(
            "--name", metavar="NAME", help="The server's own name, where several share one database."
        ),
    ] = "",
    bus: Annotated[
        str,
        typer.Option(
            "--bus",
            metavar="nats://HOST:PORT",
            help="The NATS of an arena of many servers, which share a PostgreSQL; none for a server by itself.",
        ),
    ] = "",
    bus_ca: Annotated[
        Path | None,
        typer.Option("--bus-ca", metavar="FILE", help="Who may certify that NATS, PEM; else the system's."),
    ] = None,
    anyone: Annotated[
        bool, typer.Option("--anyone", help="Let any name in without a token: for a private network.")
    ] = False,
    casual: Annotated[bool, typer.Option("--casual", help="Matches of the pool are not rated.")] = False,
    challenges_only: Annotated[
        bool, typer.Option("--challenges-only", help="No matchmaker: bots play only whom they challenge.")
    ] = False,
    house: Annotated[
        str,
        typer.Option(
            "--house",
            metavar="ENGINE,ENGINE",
            help="Engines that the server runs for whoever asks; none for none.",
        ),
    ] = DEFAULT,
    no_guests: Annotated[
        bool, typer.Option("--no-guests", help="Nobody without a token may play the house's engines.")
    ] = False,
    tls_cert: Annotated[
        Path | None, typer.Option("--tls-cert", metavar="FILE", help="Certificate chain, PEM.")
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option("--tls-key", metavar="FILE", help="Its private key, PEM.")
    ] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            "--proxy",
            metavar="ADDRESS",
            help="Address or network of a proxy whose X-Forwarded-For is believed.",
        ),
    ] = None,
    max_connections: Annotated[int, typer.Option("--max-connections", metavar="N", min=1)] = SAFE.connections,
    max_per_address: Annotated[
        int, typer.Option("--max-per-address", metavar="N", min=1, help="Connections from one address.")
    ] = SAFE.connections_per_address,
    max_cut_offs: Annotated[
        int,
        typer.Option(
            "--max-cut-offs",
            metavar="N",
            min=1,
            help="Connections from one address that misbehave in a minute; then it is refused for a minute.",
        ),
    ] = SAFE.cut_offs,
    max_messages: Annotated[
        float, typer.Option("--max-messages", metavar="N", min=1, help="Messages a second of one connection.")
    ] = SAFE.messages_per_second,
    max_moves: Annotated[
        float,
        typer.Option(
            "--max-moves",
            metavar="N",
            min=1,
            help="Moves a second of one address that need not wait for those of others.",
        ),
    ] = SAFE.moves_per_second,
    max_message_bytes: Annotated[
        int, typer.Option("--max-message-bytes", metavar="BYTES", min=1024)
    ] = SAFE.message_bytes,
    max_matches: Annotated[
        int, typer.Option("--max-matches", metavar="N", min=1, help="Matches at once of one bot.")
    ] = SAFE.matches_per_bot,
    max_challenges: Annotated[
        int, typer.Option("--max-challenges", metavar="N", min=1, help="Open challenges of one bot.")
    ] = SAFE.open_challenges,
    max_territories: Annotated[
        int,
        typer.Option(
            "--max-territories",
            metavar="N",
            min=2,
            max=1000,
            help="Territories of a map that a challenge names.",
        ),
    ] = SAFE.territories,
    max_work: Annotated[
        float,
        typer.Option(
            "--max-work",
            metavar="MS",
            min=1,
            help="Milliseconds of work a second that one address may ask for beside moves.",
        ),
    ] = SAFE.work_ms_per_second,
    hello: Annotated[
        float, typer.Option("--hello", metavar="SECONDS", min=0.1, help="Seconds from connection to hello.")
    ] = SAFE.hello_seconds,
    thinking: Annotated[
        Disclosure,
        typer.Option(
            "--thinking",
            metavar="reply|end",
            help="When spectators, and so opponents, see what bots say of a move: after the reply to it, or at the end.",
        ),
    ] = Disclosure.REPLY,
    keep: Annotated[
        str,
        typer.Option(
            "--keep",
            metavar="DAYS|MATCHES",
            help="Keep finished matches for so long, as 90d, or the newest so many, as 1000000; else all.",
        ),
    ] = "",
    archive: Annotated[
        Path | None,
        typer.Option(
            "--archive", metavar="FOLDER", help="With --keep: move the others to files in this folder."
        ),
    ] = None,
    record: RecordOption = None,
    db: DatabaseOption = "sqlite:///arena.db",
    no_backup: Annotated[
        bool,
        typer.Option("--no-backup", help="Keep no copy of an older version's store before it is changed."),
    ] = False,
    log: Annotated[
        LogForm, typer.Option("--log", metavar="text|json", help="Form of the log on stderr.")
    ] = LogForm.TEXT,
    verbose: Annotated[bool, typer.Option("--verbose", help="Log comings and goings too.")] = False,
    wire: Annotated[bool, typer.Option("--wire", help="Log every message, in and out.")] = False,
) -> None:
    """Host matches: bots connect, and whoever is idle plays a near opponent it has met seldom.

    A bot needs a token (`arena token create NAME`), unless --anyone is given. People can play the house's
    engines on the page at once: as guests, who need none. SIGTERM and Ctrl-C drain:
    no new matches, and what is in progress may end; what does not is in the database, and goes on when
    the server is started again. So it does after a crash. With --bus the other servers of the arena go on with it at once.

    Example: arena serve --host 0.0.0.0 --map world --tc 10+0.1 --tls-cert cert.pem --tls-key key.pem
    """
    try:
        first, *others = courses_of(game, map, tc, openings)
        offer = Offer(
            first.game,
            first.time_control,
            margin,
            ready * 1000,
            OPEN_EVENT,
            rated=not casual,
            openings=first.openings,
            others=tuple(others),
            pause=pause,
        )
        engines = house_bots(house)
        adjudication = Adjudication.parse(adjudicate)
        for course in offer.courses:
            lacking = lacks_table(adjudication, course.game)
            if lacking is not None:
                raise Misuse(f"--adjudicate: {lacking}")
        networks = [str(ip_network(each)) for each in proxy or ()]
    except (GameError, MapError, BadTimeControl, BadHouse, BadOpenings, BadCourses) as error:
        raise Misuse(str(error)) from None
    except BadAdjudication as error:
        raise Misuse(f"--adjudicate: {error}") from None
    except ValueError as error:
        raise Misuse(f"--proxy: {error}") from None
    retention = retention_of(keep, archive)
    limits = HostLimits(
        connections=max_connections,
        connections_per_address=max_per_address,
        cut_offs=max_cut_offs,
        message_bytes=max_message_bytes,
        messages_per_second=max_messages,
        message_burst=max(SAFE.message_burst, int(4 * max_messages)),
        moves_per_second=max_moves,
        hello_seconds=hello,
        open_challenges=max_challenges,
        matches_per_bot=max_matches,
        territories=max_territories,
        work_ms_per_second=max_work,
    )
    require_shared(option_of_many(processes, bus), db)
    logs.set_up(log.value, verbose=verbose, wire=wire)
    tls = tls_of(tls_cert, tls_key)
    secure = tls is not None
    leave_to_processes(processes, host=host, port=port, own_port=own_port, name=name, bus=bus, secure=secure)

    async def tell(each: Record) -> None:
        await _tell(each, record)

    stop = StopSignals()

    async def once(arena: Bus | None) -> None:
        async with (
            open_host(
                host=host,
                port=port,
                reuse_port=reuse_port,
                own_port=own_port,
                database=db,
                grace_ms=grace * 1000,
                anyone=anyone,
                tls=tls,
                limits=limits,
                trusted_proxies=networks,
                # Whoever names engines is told at once when a name is wrong.
                house=HousePlan(engines, guests=not no_guests, check=house != DEFAULT, games=KNOWN.specs()),
                offer=None if challenges_only else offer,
                concurrency=concurrency or len(cores()),
                by_threads=not concurrency,
                adjudication=adjudication,
                going_on=OPEN_EVENT,
                on_record=tell,
                name=name,
                bus=arena,
                back_up=not no_backup,
                retention=retention,
                disclosure=thinking,
            ) as running,
        ):
            err.print(f"listening on {running.url}", markup=False, soft_wrap=True)
            if running.resumed:
                err.print(f"going on with {running.resumed} matches; their bots have {grace} s to return")
            await until_told_to_stop(running, drain, stop)

    async def main() -> None:
        with closing(stop):
            await (in_arena(bus, once, stop, name=name, ca=bus_ca) if bus else once(None))

    # Whoever is the first to ask for a table of an event would wait a tenth of a second for NumPy.
    import_module("arena.rating.bradley_terry")
    try:
        with interpreter.settled():
            anyio.run(main, backend_options={"use_uvloop": True})
    except NameHeld as error:
        raise Failure(f"{error}; a second server on one store needs a --name of its own") from None
    except (CannotListen, StoreError, BusError) as error:
        raise Failure(str(error)) from None
    except BadHouse as error:
        raise Misuse(f"--house: {error}") from None


async def _tell(record: Record, path: Path | None) -> None:
    result, players = record.result, record.players
    winner = f"{result.winner} wins" if result.winner else "draw"
    # Not laid out by the console: on a busy server that would cost as much as some moves of the match.
    out.file.write(
        f"{players.maxie} - {players.minnie}: {winner}, {result.reason.value}, {len(record.moves)} plies\n"
    )
    out.file.flush()
    if path is not None:
        async with await anyio.open_file(path, "a", encoding="utf-8") as lines:
            await lines.write(to_line(record) + "\n")
