"""The metrics, as the parser of Prometheus' own client reads them from a running server."""

from __future__ import annotations

import urllib.request

import anyio
from prometheus_client.parser import text_string_to_metric_families

from arena.protocol.messages import Ready
from arena.server.host import Host
from arena.server.net.metrics import Metrics
from tests.server.matches import game_of, spec
from tests.server.peer import enter


def samples(page: bytes) -> dict[tuple[str, tuple[str, ...]], float]:
    """Every sample by its name and the values of its labels."""
    return {
        (sample.name, tuple(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(page.decode())
        for sample in family.samples
    }


def scrape(host: Host) -> bytes:
    with urllib.request.urlopen(host.url.replace("ws:", "http:") + "/metrics", timeout=10) as answer:
        page: bytes = answer.read()
    return page


def test_two_servers_in_one_process_count_apart() -> None:
    one, other = Metrics(), Metrics()
    one.message(Ready("m"))
    assert samples(one.page())["arena_messages_total", ("ready",)] == 1
    assert ("arena_messages_total", ("ready",)) not in samples(other.page())


async def test_a_match_shows_in_every_metric_that_it_touches(host: Host) -> None:
    game = game_of()
    async with enter(host, "anna") as anna, enter(host, "bert") as bert:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(anna.play, game)
            tasks.start_soon(bert.play, game)
            record = await host.play(spec("anna", "bert"))
        await anna.say(Ready("no such"))
        await anna.next()
        seen = samples(await anyio.to_thread.run_sync(scrape, host))
    plies = len(record.moves)
    assert seen["arena_bots", ()] == 2
    assert seen["arena_matches", ()] == 0
    assert seen["arena_matches_finished_total", (record.result.reason.value,)] == 1
    assert seen["arena_messages_total", ("move",)] == plies
    assert seen["arena_messages_total", ("ready",)] == 3
    assert seen["arena_rejections_total", ("no_such_match",)] == 1
    assert seen["arena_move_seconds_count", ()] == plies
    assert seen["arena_journal_seconds_count", ()] > 0
    assert seen["arena_loop_delay_seconds_count", ()] > 0
