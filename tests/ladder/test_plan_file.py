import math
from pathlib import Path

import pytest

from arena.ladder.plan import BadLadderPlan, BotPlan, LadderPlan, map_bots_to_time_controls
from arena.ladder.plan_file import read_ladder_file
from arena.protocol.adjudication import DEFAULT_ADJUDICATION, Adjudication
from arena.protocol.timecontrol import TimeControl

EXAMPLE = Path(__file__).parents[2] / "examples" / "ladder.toml"

TWO = '[[bots]]\nengine = "greedy"\n[[bots]]\nengine = "random"\n'


def read_plan(tmp_path: Path, text: str) -> LadderPlan:
    file = tmp_path / "ladder.toml"
    file.write_text(text, encoding="utf-8")
    return read_ladder_file(file)


def test_the_example() -> None:
    plan = read_ladder_file(EXAMPLE)
    assert plan == LadderPlan(
        bots=(
            BotPlan("greedy", "greedy"),
            BotPlan("four-plies", "alphabeta:depth=4", thread_count=1),
            BotPlan("mine", None, ("arena", "bot", "random")),
        ),
        event_name="example",
        maps=("italy", "path4"),
        bot_folder=EXAMPLE.parent,
    )


def test_the_example_writes_the_defaults(tmp_path: Path) -> None:
    written, bare = read_ladder_file(EXAMPLE), read_plan(tmp_path, TWO)
    for key in (
        "game",
        "time_control",
        "margin_ms",
        "format",
        "rounds",
        "openings",
        "concurrency",
        "should_pin_bots",
        "seed",
    ):
        assert getattr(written, key) == getattr(bare, key), key
    assert bare == LadderPlan(bots=bare.bots, bot_folder=tmp_path)


def test_rules_of_adjudication(tmp_path: Path) -> None:
    assert read_plan(tmp_path, TWO).adjudication == DEFAULT_ADJUDICATION
    assert read_plan(tmp_path, f'adjudicate = "none"\n{TWO}').adjudication is None
    plan = read_plan(tmp_path, f"[adjudicate]\nwin = 500\nlimit = 200\n{TWO}")
    assert plan.adjudication == Adjudication(win=500, limit=200, repetition=3)
    plan = read_plan(tmp_path, f'[adjudicate]\nlimit = 200\nrepetition = "none"\n{TWO}')
    assert plan.adjudication == Adjudication(limit=200)
    with pytest.raises(BadLadderPlan, match=r"ladder\.toml:1: adjudicate: unknown rule 'wins'"):
        read_plan(tmp_path, f"[adjudicate]\nwins = 500\n{TWO}")
    with pytest.raises(BadLadderPlan, match=r'adjudicate: must be a table.* or the word "none"'):
        read_plan(tmp_path, f'adjudicate = "limit=200"\n{TWO}')
    for wrong in ("200", "false"):
        with pytest.raises(BadLadderPlan, match="adjudicate: expected a string or a table, got"):
            read_plan(tmp_path, f"adjudicate = {wrong}\n{TWO}")


def test_every_key(tmp_path: Path) -> None:
    plan = read_plan(
        tmp_path,
        'event = "spring"\ngame = "tictactoe"\nmaps = ["mine.toml", "ring:6"]\ntime_control = "10+0.1"\nmargin = 50\n'
        f"rounds = 7\nconcurrency = 3\nseed = -4\n{TWO}",
    )
    assert plan == LadderPlan(
        bots=(BotPlan("greedy", "greedy"), BotPlan("random", "random")),
        event_name="spring",
        game="tictactoe",
        maps=(str(tmp_path / "mine.toml"), "ring:6"),
        time_control=TimeControl(10_000, 100),
        margin_ms=50,
        rounds=7,
        concurrency=3,
        seed=-4,
        bot_folder=tmp_path,
    )


def test_formats_times_openings_and_threads(tmp_path: Path) -> None:
    plan = read_plan(tmp_path, f'format = "swiss"\nfor = "10m"\nopenings = 4\n{TWO}threads = 2')
    assert (plan.format, plan.rounds, plan.max_play_seconds, plan.openings) == ("swiss", None, 600, 4)
    assert [each.thread_count for each in plan.bots] == [0, 2]
    listed = read_plan(tmp_path, f'rounds = 3\nfor = "ever"\nopenings = "first.txt"\n{TWO}')
    assert (listed.rounds, listed.max_play_seconds, listed.openings) == (3, math.inf, tmp_path / "first.txt")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('format = "league"', "format: must be one of round-robin, gauntlet, swiss, knockout, not 'league'"),
        ('for = "soon"', "for: the time must be a duration such as 30s, 10m, 2h, or ever, not 'soon'"),
        ('for = "0s"', "for: the time must be above 0"),
        ('for = ""', "for: the time must be a duration such as 30s, 10m, 2h, or ever, not ''"),
        ("openings = 1000", "openings: an opening must have at most 100 plies, not 1000"),
        ("openings = true", "openings: expected a whole number or a string, got true or false"),
    ],
)
def test_invalid_formats_times_and_openings(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(BadLadderPlan, match=why):
        read_plan(tmp_path, f"{text}\n{TWO}")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("rounds =", ": not valid TOML: Invalid value"),
        pytest.param(f"rounds = {'1' * 5_000}", ": not valid TOML: ", id="a number of many digits"),
        pytest.param(f"maps = {'[' * 100_000}", ": not valid TOML: ", id="nested too deeply"),
        ("", r": bots: a ladder needs at least two bots, not 0: add a \[\[bots\]\] table"),
        ('[[bots]]\nengine = "greedy"', r":1: bots: a ladder needs at least two bots, not 1"),
        ("bots = 3", ":1: bots: expected a list, got a whole number"),
        ("bots = [3, 4]", ":1: bots: expected a table, got a whole number"),
        (f"round = 2\n{TWO}", ':1: round: unknown key; did you mean "rounds"?'),
        ('[[bot]]\nengine = "greedy"', ':1: bot: unknown key; did you mean "bots"?'),
        (f"zzz = 2\n{TWO}", ":1: zzz: unknown key; choose from event, game"),
        (f"seed = 2\nrounds = 0\n{TWO}", ":2: rounds: expected a whole number >= 1"),
        (f'rounds = "2"\n{TWO}', ":1: rounds: expected a whole number, got a string"),
        (f"rounds = true\n{TWO}", ":1: rounds: expected a whole number, got true or false"),
        (f"margin = -1\n{TWO}", ":1: margin: expected a whole number >= 0"),
        (f'time_control = "5 min"\n{TWO}', ":1: time_control: '5 min' is not a time control: write 10"),
        (f"time_control = 5\n{TWO}", ":1: time_control: expected a string, got a whole number"),
        (f"maps = []\n{TWO}", ":1: maps: expected a list of length >= 1"),
        (f'maps = ["m1", "m1"]\n{TWO}', ":1: maps: list 'm1' once, not 2 times; for more matches"),
        (f'maps = "m1"\n{TWO}', ":1: maps: expected a list, got a string"),
        (f'event = "a\\nb"\n{TWO}', ":1: event: must be 1 to 100 printable characters"),
        (
            f"{TWO}[[bots]]",
            ":5: bots: a bot must have exactly one of engine, exec, command, image and submit",
        ),
        (f'{TWO}[[bots]]\nexec = "a"\nimage = "b"', ":5: bots: a bot must have exactly one of engine, exec"),
        (f"{TWO}[[bots]]\nimage = 5", r":6: bots\.image: expected a string, got a whole number"),
        (f'{TWO}[[bots]]\nsubmit = ""', r":6: bots\.submit: expected a string that is not blank"),
        (f'{TWO}[[bots]]\nsubmit = " "', r":6: bots\.submit: expected a string that is not blank"),
        (
            f'{TWO}[[bots]]\nengine = "a"\ncommand = ["b"]',
            ":5: bots: a bot must have exactly one of engine, exec, command, image and submit",
        ),
        (f'{TWO}[[bots]]\nengin = "a"', r':6: bots\.engin: unknown key; did you mean "engine"?'),
        (f'{TWO}[[bots]]\ncommand = "python a.py"', r":6: bots\.command: expected a list, got a string"),
        (f'{TWO}[[bots]]\ncommand = ["a", 1]', r":6: bots\.command: expected a string, got a whole number"),
        (
            f'{TWO}name = "x"\n[[bots]]\nengine = "a"\nname = "x"',
            r":8: bots\.name: must be unique, but 'x' occurs twice",
        ),
        (f'{TWO}name = "x#2"', r":5: bots\.name: must be 1 to 56 printable characters without #"),
        (f'{TWO}name = "{"x" * 57}"', r":5: bots\.name: must be 1 to 56"),
        (f'{TWO}name = " "', r":5: bots\.name: must be 1 to 56 printable characters"),
        (f'{TWO}[[bots]]\nengine = "command:"', ":5: bots: command: must be followed by a program"),
    ],
)
def test_an_error_names_file_key_and_reason(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(BadLadderPlan, match=why) as told:
        read_plan(tmp_path, text)
    assert str(told.value).startswith(f"{tmp_path / 'ladder.toml'}:")
    assert "\n" not in str(told.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(BadLadderPlan, match=r"none\.toml: No such file or directory"):
        read_ladder_file(tmp_path / "none.toml")
    with pytest.raises(BadLadderPlan, match="a folder; name a file in it"):
        read_ladder_file(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b'event = "\xe9"')
    with pytest.raises(BadLadderPlan, match=r"latin\.toml:1: not UTF-8 text"):
        read_ladder_file(tmp_path / "latin.toml")


def test_a_command_has_a_name_that_is_allowed(tmp_path: Path) -> None:
    file = tmp_path / "ladder.toml"
    file.write_text('[[bots]]\ncommand = ["bots/a#b"]\n[[bots]]\ncommand = ["/"]\n')
    assert [bot.name for bot in read_ladder_file(file).bots] == ["a?b", "?"]


def test_a_program_by_lines_and_a_time_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "ladder.toml"
    file.write_text(
        '[[bots]]\nexec = "perl my_bot.pl --hard"\ntime_control = "5+0.05"\n[[bots]]\nengine = "greedy"\n'
    )
    first, second = read_ladder_file(file).bots
    assert (first.name, first.engine_spec, first.command) == ("my_bot", "exec:perl my_bot.pl --hard", ())
    assert (first.time_control, second.time_control) == (TimeControl(5000, 50), None)
    assert map_bots_to_time_controls([first, second]) == {"my_bot": "5+0.05"}


def test_bots_in_boxes(tmp_path: Path) -> None:
    plan = read_plan(
        tmp_path,
        '[[bots]]\nimage = "registry:5000/team/camel:2@sha256:ab"\nthreads = 2\n[[bots]]\nsubmit = "in/goat.zip"\n'
        '[[bots]]\nsubmit = "goat.zip"\nimage = "python:3"\nname = "kid"\n',
    )
    assert plan.bots == (
        BotPlan("camel", "image:registry:5000/team/camel:2@sha256:ab", thread_count=2),
        BotPlan("goat", "submit:in/goat.zip"),
        BotPlan("kid", "submit:goat.zip,image=python:3"),
    )
