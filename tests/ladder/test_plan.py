import math
import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.console import UsageError
from arena.ladder.commands.options import apply_options_to_plan
from arena.ladder.plan import (
    COMMAND_BOT_PREFIX,
    MAX_BOT_NAME_LENGTH,
    BadLadderPlan,
    BotPlan,
    LadderPlan,
    make_bot_names_unique,
    make_command_bot_plan,
    make_engine_bot_plan,
    parse_openings_setting,
    validate_event_name,
)


@pytest.mark.parametrize(
    ("engine", "name"),
    [
        ("greedy", "greedy"),
        ("minimax:depth=4", "minimax:depth=4"),
        ("bots/my_bot.py", "my_bot"),
        ("my_bot.py:Clever", "my_bot:Clever"),
        ("x" * 80, "x" * 56),
        ("a#2\n", "a?2?"),
    ],
)
def test_a_bot_is_named_after_its_engine(engine: str, name: str) -> None:
    assert make_engine_bot_plan(engine) == BotPlan(name, engine)


@given(st.lists(st.sampled_from(["a", "b", "a-2", "a-3", "b-2"]), max_size=12))
def test_names_differ_and_nobody_is_renamed_without_need(names: list[str]) -> None:
    unique = [bot.name for bot in make_bot_names_unique(BotPlan(name) for name in names)]
    assert len(set(unique)) == len(unique) == len(names)
    assert all(after == before for before, after in zip(names[:1], unique[:1], strict=True))
    assert all(
        after == before or after.startswith(f"{before}-") for before, after in zip(names, unique, strict=True)
    )


@given(st.text(min_size=1, max_size=120).filter(lambda engine: not engine.startswith(COMMAND_BOT_PREFIX)))
def test_every_engine_gets_a_name_that_the_protocol_allows(engine: str) -> None:
    assert_allowed(make_engine_bot_plan(engine).name)


@given(st.text(max_size=120))
def test_every_command_has_a_name_that_the_protocol_allows_or_is_refused(line: str) -> None:
    try:
        words = shlex.split(line)
    except ValueError:
        words = []
    if not words:
        with pytest.raises(BadLadderPlan):
            make_engine_bot_plan(f"{COMMAND_BOT_PREFIX}{line}")
        return
    plan = make_engine_bot_plan(f"{COMMAND_BOT_PREFIX}{line}")
    assert_allowed(plan.name)
    assert list(plan.command) == words


@pytest.mark.parametrize("line", ["''", "'#'", "a#b", "a\x00b", f"{'x' * 60} {'y' * 60}.py", "'  '"])
def test_a_command_of_any_name_is_given_one_that_is_allowed(line: str) -> None:
    assert_allowed(make_command_bot_plan(line).name)


def assert_allowed(name: str) -> None:
    assert 1 <= len(name) <= MAX_BOT_NAME_LENGTH
    assert name.isprintable()
    assert name == name.strip()
    assert "#" not in name


def test_an_engine_that_says_its_threads_is_planned_with_them() -> None:
    assert make_engine_bot_plan("jamboree:threads=2,depth=3").thread_count == 2
    assert make_engine_bot_plan("jamboree:threads=many").thread_count == 0


@pytest.mark.parametrize(
    ("engine", "asked"),
    [
        ("jamboree", [1, 2, 8, 8]),
        ("jamboree:depth=4,form=course", [1, 2, 8, 8]),
        ("jamboree:threads=3", [3, 3, 3, 3]),
        ("jamboree:threads=many", [1, 1, 1, 1]),
        ("alphabeta", [1, 1, 1, 1]),
        ("my_bot.py", [1, 1, 1, 1]),
        ("no such engine", [1, 1, 1, 1]),
    ],
)
def test_a_bot_asks_for_the_threads_of_its_engine(engine: str, asked: list[int]) -> None:
    assert [make_engine_bot_plan(engine).count_required_threads(cores) for cores in (1, 2, 8, 16)] == asked


@pytest.mark.parametrize(
    ("spec", "name", "engine", "command"),
    [
        ("exec:perl bots/my_bot.pl", "my_bot", "exec:perl bots/my_bot.pl", ()),
        ("exec:./mine", "mine", "exec:./mine", ()),
        ("command:node 'my bot.js' -v", "my bot", None, ("node", "my bot.js", "-v")),
        ("command:/opt/mine", "mine", None, ("/opt/mine",)),
    ],
)
def test_programs_are_named_by_their_files(
    spec: str, name: str, engine: str | None, command: tuple[str, ...]
) -> None:
    assert make_engine_bot_plan(spec) == BotPlan(name, engine, command)


@pytest.mark.parametrize("spec", ["command:", "command:  ", "command:'open"])
def test_a_command_that_is_none_is_refused(spec: str) -> None:
    with pytest.raises(BadLadderPlan):
        make_engine_bot_plan(spec)


def test_threads_of_the_ladder_override_those_of_the_engine() -> None:
    assert BotPlan("strong", "jamboree", thread_count=4).count_required_threads(16) == 4
    assert BotPlan("mine", None, ("mine",)).count_required_threads(16) == 0, "only the program knows"
    assert BotPlan("mine", None, ("mine",), thread_count=5).count_required_threads(2) == 5


def test_an_error_begins_with_its_place() -> None:
    plan = LadderPlan(bots=())
    assert apply_options_to_plan(plan, {"for_": "ever"}).max_play_seconds == math.inf
    with pytest.raises(
        UsageError, match=r"^--for: the time must be a duration such as 30s, 10m, 2h, or ever, not '10'$"
    ):
        apply_options_to_plan(plan, {"for_": "10"})


def test_openings_are_plies_or_a_file(tmp_path: Path) -> None:
    assert parse_openings_setting("4") == 4
    assert parse_openings_setting("4.txt", tmp_path) == tmp_path / "4.txt"
    with pytest.raises(ValueError, match=r"^an opening must have at most 100 plies, not 101$"):
        parse_openings_setting("101")


def test_an_event_name_must_be_printable() -> None:
    assert validate_event_name("spring 2026") == "spring 2026"
    for wrong in ("", "a\nb", "x" * 101):
        with pytest.raises(ValueError, match=r"^must be 1 to 100 printable characters, not '"):
            validate_event_name(wrong)
