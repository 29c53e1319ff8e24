"""A ladder whose bots dial in: `arena ladder --external` and `arena bot --unique` as processes."""

from __future__ import annotations

import re
from contextlib import chdir
from pathlib import Path

import msgspec
import pytest

from arena.protocol.record import read_records
from tests.bots.command_line import arena
from tests.e2e.commands import running

pytestmark = pytest.mark.usefixtures("loaded_commands")


def test_bots_dial_in_play_and_end_with_the_ladder(tmp_path: Path) -> None:
    ladder = (
        "ladder",
        "--external",
        "3",
        "--port",
        "0",
        "--game",
        "tictactoe",
        "--rounds",
        "1",
        "--tc",
        "120+1",
    )
    with running(*ladder, "--record", "record.jsonl", "--json", "table.json", folder=tmp_path) as server:
        url = server.address()
        bot = ("--unique", "--url", url)
        with (
            running("bot", "random", *bot, folder=tmp_path) as first,
            running("bot", "random", *bot, folder=tmp_path) as second,
            running("bot", "greedy", *bot, folder=tmp_path) as third,
        ):
            output = server.output()
            assert server.returncode == 0, output
            results = [each.output() for each in (first, second, third)]
            assert [each.returncode for each in (first, second, third)] == [0, 0, 0], results
    names = {"random", "random-2", "greedy"}
    played = list(read_records(tmp_path / "record.jsonl"))
    assert len(played) == 6
    assert {record.players.maxie for record in played} == names
    rows = msgspec.json.decode((tmp_path / "table.json").read_bytes())["table"]
    assert {row["bot"] for row in rows} == names
    assert sum(row["time"] + row["gone"] for row in rows) == 0
    assert "random-2" in output
    values = {
        bot: (int(place), float(points))
        for bot, place, points in re.findall(
            r"(\S+): ladder-\S+: the event is over: place (\d) of 3, (\S+) points?$",
            "\n".join(results),
            re.MULTILINE,
        )
    }
    assert {bot: points for bot, (_, points) in values.items()} == {row["bot"]: row["points"] for row in rows}
    places = [values[row["bot"]][0] for row in rows]
    assert places == sorted(places)
    assert places[0] == 1


def test_a_bot_that_came_too_early_waits_for_the_next_try(tmp_path: Path) -> None:
    with running("ladder", "--external", "2", "--port", "0", "--wait", "30", folder=tmp_path) as server:
        url = server.address()
        with running("bot", "greedy", "--url", url, "--wait", "300", folder=tmp_path) as bot:
            assert "1 of 2 bots connected within 30 s: greedy" in server.output()
            port = url.rpartition(":")[2]
            again = ("ladder", "--external", "2", "--port", port, "--game", "tictactoe", "--rounds", "1")
            with (
                running(*again, folder=tmp_path) as second,
                running("bot", "random", "--url", url, "--wait", "300", folder=tmp_path) as other,
            ):
                output = second.output()
                assert second.returncode == 0, output
                assert (bot.output(), bot.returncode, other.output(), other.returncode) is not None
                assert bot.returncode == other.returncode == 0


def test_too_few_bots_are_a_failure_in_one_line(tmp_path: Path) -> None:
    with chdir(tmp_path):
        result = arena("ladder", "--external", "2", "--port", "0", "--wait", "0.1")
    assert result.stderr.splitlines()[-1] == "arena: 0 of 2 bots connected within 0.1 s: none"
    assert result.code == 1


def test_a_ladder_that_is_refused_sends_its_bots_home_and_names_the_way_on(tmp_path: Path) -> None:
    kept = ("--db", "sqlite:///ladder.db", "--event", "kept", "--game", "tictactoe")
    begun = ("ladder", "--bot", "greedy", "--bot", "random", "--rounds", "1", *kept)
    with running(*begun, folder=tmp_path) as first:
        output = first.output()
        assert first.returncode == 0, output
    external = ("ladder", "--external", "2", "--port", "0", "--rounds", "2", *kept)
    with running(*external, folder=tmp_path) as server:
        url = server.address()
        # A bot that finds no server looks for it for a minute: these two were told that it ends.
        bot = ("bot", "greedy", "--unique", "--url", url, "--wait", "60")
        with running(*bot, folder=tmp_path) as one, running(*bot, folder=tmp_path) as two:
            output = server.output()
            assert server.returncode == 1, output
            for each in (one, two):
                assert "0 won" in each.output()
                assert each.returncode == 0
    refusal = output.splitlines()[-1]
    assert refusal.startswith("arena: event kept was started with different settings: ")
    assert "rounds was 1, now 2" in refusal
    assert refusal.endswith(
        "give it another name; with Docker Compose, EVENT=NAME docker compose up begins another event"
    )
