import math
from pathlib import Path

import pytest

from arena.ladder.plan import BadLadder, BotPlan, LadderPlan, list_own_time_controls
from arena.ladder.plan_file import read_ladder
from arena.protocol.adjudication import DEFAULT_RULES, Adjudication
from arena.protocol.timecontrol import TimeControl

EXAMPLE = Path(__file__).parents[2] / "examples" / "ladder.toml"

TWO = '[[bots]]\nengine = "greedy"\n[[bots]]\nengine = "random"\n'


def read_plan(tmp_path: Path, text: str) -> LadderPlan:
    file = tmp_path / "ladder.toml"
    file.write_text(text, encoding="utf-8")
    return read_ladder(file)


def test_the_example() -> None:
    plan = read_ladder(EXAMPLE)
    assert plan == LadderPlan(
        bots=(
            BotPlan("greedy", "greedy"),
            BotPlan("four-plies", "alphabeta:depth=4", threads=1),
            BotPlan("mine", None, ("arena", "bot", "random")),
        ),
        event="example",
        maps=("italy", "path4"),
        folder=EXAMPLE.parent,
    )


def test_the_example_writes_the_defaults(tmp_path: Path) -> None:
    written, bare = read_ladder(EXAMPLE), read_plan(tmp_path, TWO)
    for key in (
        "game",
        "time_control",
        "margin_ms",
        "format",
        "rounds",
        "openings",
        "concurrency",
        "pin",
        "seed",
    ):
        assert getattr(written, key) == getattr(bare, key), key
    assert bare == LadderPlan(bots=bare.bots, folder=tmp_path)


def test_rules_of_adjudication(tmp_path: Path) -> None:
    assert read_plan(tmp_path, TWO).adjudication == DEFAULT_RULES
    assert read_plan(tmp_path, f'adjudicate = "none"\n{TWO}').adjudication is None
    plan = read_plan(tmp_path, f"[adjudicate]\nwin = 500\nlimit = 200\n{TWO}")
    assert plan.adjudication == Adjudication(win=500, limit=200, repetition=3)
    plan = read_plan(tmp_path, f'[adjudicate]\nlimit = 200\nrepetition = "none"\n{TWO}')
    assert plan.adjudication == Adjudication(limit=200)
    with pytest.raises(BadLadder, match=r"ladder.toml: adjudicate: unknown rule 'wins'"):
        read_plan(tmp_path, f"[adjudicate]\nwins = 500\n{TWO}")
    for wrong in ("200", '"limit=200"', "false"):
        with pytest.raises(BadLadder, match=r'adjudicate: must be a table.* or the word "none"'):
            read_plan(tmp_path, f"adjudicate = {wrong}\n{TWO}")


def test_every_key(tmp_path: Path) -> None:
    plan = read_plan(
        tmp_path,
        'event = "spring"\ngame = "tictactoe"\nmaps = ["mine.toml", "ring:6"]\ntime_control = "10+0.1"\nmargin = 50\n'
        f"rounds = 7\nconcurrency = 3\nseed = -4\n{TWO}",
    )
    assert plan == LadderPlan(
        bots=(BotPlan("greedy", "greedy"), BotPlan("random", "random")),
        event="spring",
        game="tictactoe",
        maps=(str(tmp_path / "mine.toml"), "ring:6"),
        time_control=TimeControl(10_000, 100),
        margin_ms=50,
        rounds=7,
        concurrency=3,
        seed=-4,
        folder=tmp_path,
    )


def test_formats_times_openings_and_threads(tmp_path: Path) -> None:
    plan = read_plan(tmp_path, f'format = "swiss"\nfor = "10m"\nopenings = 4\n{TWO}threads = 2')
    assert (plan.format, plan.rounds, plan.seconds, plan.openings) == ("swiss", None, 600, 4)
    assert [each.threads for each in plan.bots] == [0, 2]
    listed = read_plan(tmp_path, f'rounds = 3\nfor = "ever"\nopenings = "first.txt"\n{TWO}')
    assert (listed.rounds, listed.seconds, listed.openings) == (3, math.inf, tmp_path / "first.txt")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('format = "league"', "format: must be one of round-robin, gauntlet, swiss, knockout, not 'league'"),
        ('for = "soon"', "for: the time must be a duration such as 30s, 10m, 2h, or ever, not 'soon'"),
        ('for = "0s"', "for: the time must be above 0"),
        ("openings = 1000", "openings: must be at most 100 plies, not 1000"),
        ("openings = true", 'openings: must be a number of plies, the name of a file, or "shipped"'),
    ],
)
def test_invalid_formats_times_and_openings(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(BadLadder, match=why):
        read_plan(tmp_path, f"{text}\n{TWO}")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("rounds =", "not valid TOML: Invalid value"),
        ("", r"bots: a ladder needs at least two bots, not 0: add a \[\[bots\]\] table"),
        ('[[bots]]\nengine = "greedy"', r"needs at least two bots, not 1"),
        ("bots = 3", r"bots: must be one or more \[\[bots\]\] tables, not 3"),
        ("bots = [3, 4]", r"bots, number 1: a bot must be a table: write \[\[bots\]\]"),
        (f"round = 2\n{TWO}", "round: unknown key; did you mean 'rounds'?"),
        ('[[bot]]\nengine = "greedy"', "bot: unknown key; did you mean 'bots'?"),
        (f"zzz = 2\n{TWO}", "zzz: unknown key; choose from .*bots, event, game"),
        (f"rounds = 0\n{TWO}", r"rounds: must be a whole number from 1 to 1000000 \(pairs .*\), not 0"),
        (f'rounds = "2"\n{TWO}', "rounds: must be a whole number from 1 to 1000000 .*, not '2'"),
        (f"rounds = true\n{TWO}", "rounds: must be a whole number"),
        (f"margin = -1\n{TWO}", "margin: must be a whole number from 0 to 60000 .milliseconds., not -1"),
        (f'time_control = "5 min"\n{TWO}', "time_control: '5 min' is not a time control: write 10"),
        (f"time_control = 5\n{TWO}", 'time_control: must be "10.0.1" or "0.1/move", in seconds, not 5'),
        (f"maps = []\n{TWO}", "maps: must be a list of at least one map"),
        (f'maps = ["m1", "m1"]\n{TWO}', "maps: must list each map once"),
        (f'maps = "m1"\n{TWO}', "maps: must be a list of maps, .* not 'm1'"),
        (f'event = "a\\nb"\n{TWO}', "event: must be 1 to 100 printable characters"),
        (
            f"{TWO}[[bots]]",
            "bots, number 3: a bot must have exactly one of engine, exec, command, image and submit",
        ),
        (
            f'{TWO}[[bots]]\nexec = "a"\nimage = "b"',
            "bots, number 3: a bot must have exactly one of engine, exec",
        ),
        (f"{TWO}[[bots]]\nimage = 5", 'bots, number 3: image: must be a container image, as in "NAME@sha256'),
        (
            f'{TWO}[[bots]]\nsubmit = ""',
            'bots, number 3: submit: must be a zip file with a bot, as in "bot.zip"',
        ),
        (
            f'{TWO}[[bots]]\nengine = "a"\ncommand = ["b"]',
            "bots, number 3: a bot must have exactly one of engine, exec, command, image and submit",
        ),
        (
            f'{TWO}[[bots]]\nengin = "a"',
            "bots, number 3: engin: unknown key; did you mean 'engine'?",
        ),
        (
            f"{TWO}[[bots]]\nengine = 5",
            "bots, number 3: engine: must be an engine as for `arena bot`.*, not 5",
        ),
        (
            f'{TWO}[[bots]]\ncommand = "python a.py"',
            "bots, number 3: command: must be a program and its arguments",
        ),
        (f'{TWO}[[bots]]\ncommand = ["a", 1]', "bots, number 3: command: must be a list of strings"),
        (
            f'{TWO}name = "x"\n[[bots]]\nengine = "a"\nname = "x"',
            "bots, number 3: name: must be unique, but 'x' occurs twice",
        ),
        (f'{TWO}name = "x#2"', "bots, number 2: name: must be 1 to 56 printable characters without #"),
        (f'{TWO}name = "{"x" * 57}"', "bots, number 2: name: must be 1 to 56"),
        (f'{TWO}name = " "', "bots, number 2: name: must be the name of the bot, not ' '"),
    ],
)
def test_an_error_names_file_key_and_reason(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(BadLadder, match=why) as told:
        read_plan(tmp_path, text)
    assert str(told.value).startswith(f"{tmp_path / 'ladder.toml'}: ")
    assert "\n" not in str(told.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(BadLadder, match=r"none\.toml: No such file or directory"):
        read_ladder(tmp_path / "none.toml")
    with pytest.raises(BadLadder, match="Is a directory"):
        read_ladder(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b'event = "\xe9"')
    with pytest.raises(BadLadder, match=r"latin\.toml: not valid TOML"):
        read_ladder(tmp_path / "latin.toml")


def test_a_command_has_a_name_that_is_allowed(tmp_path: Path) -> None:
    file = tmp_path / "ladder.toml"
    file.write_text('[[bots]]\ncommand = ["bots/a#b"]\n[[bots]]\ncommand = ["/"]\n')
    assert [bot.name for bot in read_ladder(file).bots] == ["a?b", "?"]


def test_a_program_by_lines_and_a_time_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "ladder.toml"
    file.write_text(
        '[[bots]]\nexec = "perl my_bot.pl --hard"\ntime_control = "5+0.05"\n[[bots]]\nengine = "greedy"\n'
    )
    first, second = read_ladder(file).bots
    assert (first.name, first.engine, first.command) == ("my_bot", "exec:perl my_bot.pl --hard", ())
    assert (first.time_control, second.time_control) == (TimeControl(5000, 50), None)
    assert list_own_time_controls([first, second]) == {"my_bot": "5+0.05"}


def test_bots_in_boxes(tmp_path: Path) -> None:
    plan = read_plan(
        tmp_path,
        '[[bots]]\nimage = "registry:5000/team/camel:2@sha256:ab"\nthreads = 2\n[[bots]]\nsubmit = "in/goat.zip"\n'
        '[[bots]]\nsubmit = "goat.zip"\nimage = "python:3"\nname = "kid"\n',
    )
    assert plan.bots == (
        BotPlan("camel", "image:registry:5000/team/camel:2@sha256:ab", threads=2),
        BotPlan("goat", "submit:in/goat.zip"),
        BotPlan("kid", "submit:goat.zip,image=python:3"),
    )
