"""`arena tune`: the weights file and errors."""

from pathlib import Path
from typing import Any

import pytest

from arena.bots.evaluators import tictactoe
from arena.bots.evaluators.linear import load_weights
from arena.bots.evaluators.outcomes import load_outcome_counts
from arena.bots.evaluators.riskless import FEATURE_NAMES
from arena.lab import tuning
from arena.lab.tuning import TrainingSamples, play_training_matches
from tests.bots.command_line import arena
from tests.games.own import EXAMPLES


def test_tictactoe_learns_from_nothing_by_the_same_command(tmp_path: Path) -> None:
    to, same = tmp_path / "mine.toml", tmp_path / "same.toml"
    options = ["--game", "tictactoe", "--matches", "40", "--generations", "2", "--nodes", "50"]
    for file in (to, same):
        result = arena("tune", *options, "--seed", "3", "--out", str(file))
        assert result.code == 0, result.stderr
    weights = load_weights(to, tictactoe.FEATURE_NAMES)
    assert weights == load_weights(same, tictactoe.FEATURE_NAMES)
    assert any(weights.values())
    assert "from nothing: all 0" in to.read_text(encoding="utf-8")
    for names in (
        ("--from", "--out"),
        ("--out", "--from"),
    ):  # the output file may be the file with the initial weights
        files = [word for name in names for word in (name, str(to))]
        result = arena("tune", *options, *files)
        assert result.code == 0, result.stderr


def test_generations_finished_before_ctrl_c_are_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def play_one_generation(*arguments: Any, seed: int, **how: Any) -> TrainingSamples:
        if seed > 3:
            raise KeyboardInterrupt
        return play_training_matches(*arguments, seed=seed, **how)

    options = ("tune", "--game", "tictactoe", "--matches", "20", "--nodes", "50", "--seed", "3")
    with monkeypatch.context() as patched:
        patched.setattr(tuning, "play_training_matches", play_one_generation)
        cut = arena(*options, "--generations", "2", "--out", tmp_path / "cut.toml")
    assert (cut.code, cut.stderr) == (130, "arena: stopped\n")
    assert cut.stdout.startswith("generation 1: 20 matches")
    assert arena(*options, "--generations", "1", "--out", tmp_path / "one.toml").code == 0
    cut_lines, lines = ((tmp_path / name).read_text().splitlines() for name in ("cut.toml", "one.toml"))
    assert cut_lines[2:] == lines[2:]  # all lines except the one with the CPU time


def test_the_command_writes_the_weights_and_how_they_were_learned(tmp_path: Path) -> None:
    to = tmp_path / "mine.toml"
    options = ["--map", "path4", "--map", "m1", "--matches", "5", "--generations", "1", "--nodes", "60"]
    options += ["--without", "attacks", "--without", "goal"]
    first = tmp_path / "first.toml"
    first.write_text("[weights]\n" + "".join(f"{name} = 50\n" for name in FEATURE_NAMES), encoding="utf-8")
    options += ["--from", str(first)]
    result = arena("tune", *options, "--seed", "3", "--out", str(to))
    assert result.code == 0, result.stderr
    text = to.read_text(encoding="utf-8")
    how = "--map path4 --map m1 --matches 5 --generations 1 --without attacks --without goal --nodes 60 --seed 3"
    assert f"arena tune {how}" in text
    learned = load_weights(to, FEATURE_NAMES)
    assert learned["attacks"] == learned["goal"] == 0
    assert any(learned.values())
    assert "10 matches" in text


def test_outcomes_are_counted_and_an_engine_can_use_them(tmp_path: Path) -> None:
    to = tmp_path / "mine-outcomes.toml"
    options = ["--outcomes", "--game", "tictactoe", "--matches", "20", "--nodes", "50"]
    result = arena("tune", *options, "--seed", "3", "--out", str(to))
    assert result.code == 0, result.stderr
    assert f"outcomes in {to}" in result.stdout
    assert "arena tune --outcomes --game tictactoe --matches 20 --nodes 50 --seed 3" in to.read_text(
        encoding="utf-8"
    )
    counts = load_outcome_counts(to).values()
    assert sum(map(sum, counts)) > 20 * 5, "every position of every match"


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--map", "grid:9x8"], "too large for the compiled engines"),
        (["--map", "nowhere"], "no such map"),
        (["--from", "missing.toml"], "missing.toml"),
        (["--without", "speed"], "--without speed: no such feature; choose from armies"),
        (["--outcomes", "--without", "speed"], "--without speed: no such feature"),
        (
            [f"--without={name}" for name in ("speed", "luck", "mass", "hope")],
            "--without speed: no such feature",
        ),
        ([f"--without={name}" for name in FEATURE_NAMES], "--without names all features"),
        (["--map", "ring:12:cap=x"], "cap=x is not cap=N or goal=N"),
        (["--game", "tictactoe", "--map", "m1"], "tictactoe has no maps"),
        (["--game", "hexapawn"], "hexapawn has no features to tune; choose riskless or tictactoe"),
        (["--game", str(EXAMPLES / "capitals_kernel.py")], "capitals_kernel.py has no features to tune"),
    ],
)
def test_a_mistake_gives_an_error_of_one_line(options: list[str], error: str) -> None:
    result = arena("tune", *options, "--matches", "5")
    assert result.code == 2
    assert error in result.stderr
    assert "Traceback" not in result.stderr
