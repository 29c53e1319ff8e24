from __future__ import annotations

from pathlib import Path

import pytest

from arena.games import rule_check
from arena.games.catalogue import BUILT_IN_GAMES, Catalogue, make_game
from arena.games.core import BadData, BadGame, Game, UnknownGame
from arena.maps.game_on_map import make_game_on_map
from arena.maps.loader import load_map
from tests.games.own import nim


def test_every_game_is_under_its_own_name() -> None:
    assert {"riskless", "tictactoe"} <= set(BUILT_IN_GAMES)
    for name, game in BUILT_IN_GAMES.items():
        assert game.name == name
        assert issubclass(game, Game)


def test_a_game_is_made_from_its_setup() -> None:
    setup = load_map("m1").to_data()
    game = make_game("riskless", setup)
    assert (game.name, game.setup()) == ("riskless", setup)
    assert make_game("tictactoe", {}).name == "tictactoe"


@pytest.mark.parametrize(
    ("name", "right"),
    [("chess", "riskless, tictactoe"), ("", "riskless, "), ("Riskless", 'mean "riskless"'), ("x" * 1000, "choose from")],
    ids=["chess", "empty", "near", "long"],
)  # fmt: skip
def test_an_unknown_game_names_the_nearest_or_all(name: str, right: str) -> None:
    with pytest.raises(UnknownGame, match=right) as unknown:
        Catalogue().find_game_class(name)
    assert len(str(unknown.value)) < 200


def test_a_setup_of_another_game_is_bad_data() -> None:
    with pytest.raises(BadData, match="territories: must be a list"):
        make_game("riskless", {})
    with pytest.raises(BadData, match="the setup of tictactoe must be empty"):
        make_game("tictactoe", load_map("m1").to_data())


def test_a_registered_class_of_a_file_is_found_by_its_name(tmp_path: Path) -> None:
    catalogue = Catalogue()
    file = nim(tmp_path)
    with pytest.raises(UnknownGame):
        catalogue.find_game_class("nim")
    assert catalogue.register_game(f"{file}:Nim") == "nim"
    assert catalogue.register_game("nim") == "nim"
    assert catalogue.find_game_class("nim").name == "nim"
    assert "nim" in catalogue.list_game_names()
    assert catalogue.get_game_spec("nim") == f"{file}:Nim"
    assert catalogue.list_file_game_specs() == [f"{file}:Nim"]
    assert set(catalogue.get_custom_game_digests()) == {"nim"}


def test_a_name_from_the_network_registers_no_game(tmp_path: Path) -> None:
    """A name from the network is only looked up and never loaded as a file, so no stranger can make code run."""
    file = nim(tmp_path, ("from dataclasses", "raise SystemExit\nfrom dataclasses"))
    for name in (str(file), f"{file}:Nim", "nim"):
        with pytest.raises(UnknownGame):
            make_game(name, {})
        with pytest.raises(UnknownGame):
            make_game_on_map(name)


def test_a_name_that_is_taken_is_refused(tmp_path: Path) -> None:
    taken = nim(tmp_path, ('"nim"', '"riskless"'))
    with pytest.raises(BadGame, match="the name 'riskless' is already taken by a game of the project"):
        Catalogue().register_game(str(taken))
    folder = tmp_path / "other"
    folder.mkdir()
    catalogue = Catalogue()
    catalogue.register_game(str(nim(folder)))
    (tmp_path / "again").mkdir()
    with pytest.raises(BadGame, match=f"is already taken by the game of {folder}"):
        catalogue.register_game(str(nim(tmp_path / "again")))


def test_rules_that_cannot_be_played_are_refused(tmp_path: Path) -> None:
    file = nim(tmp_path, ("position.left - move", "position.lefft - move"))
    with pytest.raises(
        BadGame, match=r"rules are faulty .*AttributeError.*nim.py, line 26.*arena check --game"
    ) as told:
        Catalogue().register_game(str(file))
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (
            ("size = 9\n", "size = 9\n\n    def player(self, position):\n        return 'third'\n"),
            "must be Maxie's",
        ),
        (("position.left - move, position", "position.left, position"), "not over after 300 plies"),
    ],
    ids=["three players", "no end"],
)
def test_a_game_that_no_match_can_be_played_of_is_refused_by_words(
    change: tuple[str, str], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rule_check, "MAX_RANDOM_MATCH_PLIES", 300)
    with pytest.raises(BadGame, match=why):
        Catalogue().register_game(str(nim(tmp_path, change)))


def test_two_sides_with_other_rules_differ_and_with_the_same_do_not(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    ours, theirs = Catalogue(), Catalogue()
    ours.register_game(str(nim(tmp_path)))
    theirs.register_game(
        str(nim(tmp_path / "other", ("min(3,", "min(2,"), ("size = 9", "size = 9  # as many")))
    )
    assert ours.explain_digest_mismatch(ours.get_custom_game_digests()) is None
    assert ours.explain_digest_mismatch({"another": "0"}) is None
    told = ours.explain_digest_mismatch(theirs.get_custom_game_digests())
    assert told is not None
    assert told.startswith("nim has other rules there")
    game = ours.find_game_class("nim").from_setup({})
    assert ours.get_rules_digest(game) == ours.get_custom_game_digests()["nim"]
    assert not ours.get_rules_digest(make_game("tictactoe", {})), "the project's own games need no comparing"
