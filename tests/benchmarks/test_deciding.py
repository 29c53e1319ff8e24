from pathlib import Path

import pytest

from arena.lab.measure import measure
from arena.maps.loader import load_map
from benchmarks import deciding
from benchmarks.engine.earlier import ROOT


@pytest.mark.parametrize("name", deciding.START)
def test_the_map_as_it_was_differs_in_its_numbers_alone(name: str) -> None:
    was, now = deciding.before(name), load_map(name)
    assert (was.territories, was.neighbours, was.ply_limit) == (
        now.territories,
        now.neighbours,
        now.ply_limit,
    )
    assert (was.territory_cap, was.armies_to_win) == (10, 5 * now.size)
    assert sorted(armies for armies in was.start if armies) == [-3] * 5 + [2] * 5


def test_an_engine_of_a_checkout_plays_the_same_matches_as_here() -> None:
    board = load_map("path4")
    # A worker tells leaves from the node above them, and so it visits other nodes; on so small a map the points are the same.
    away = deciding.measure_away(ROOT, board, "plain", pairs=3, seed=1, progress=lambda _count: None)
    (here,) = measure([board], "plain", matches=6, seed=1, processes=1, strengths=())
    assert away.signal.pairs == here.signal.pairs == 3
    assert away.signal.points == here.signal.points


def test_the_table_has_a_row_for_each_edition() -> None:
    found = list(measure([load_map("path4")] * 2, "plain", matches=4, seed=1, processes=1, strengths=()))
    lines = deciding.table(
        [deciding.row(*each) for each in zip(("before", "now"), found, strict=True)]
    ).splitlines()
    assert [line.split(" | ")[0:2] for line in lines[2:]] == [["| path4", "before"], ["| path4", "now"]]
    assert len({line.count("|") for line in lines}) == 1


def test_the_page_has_a_place_for_the_table() -> None:
    text = Path(deciding.PAGE).read_text()
    assert text.index(deciding.BEGIN) < text.index(deciding.END)


def test_a_row_is_found_again_by_what_it_is_of(tmp_path: Path) -> None:
    board = load_map("path4")
    (found,) = measure([board], "plain", matches=4, seed=1, processes=1, strengths=())
    page = tmp_path / "page.md"
    page.write_text(f"{deciding.BEGIN}\n{deciding.table([deciding.row('before', found)])}\n{deciding.END}\n")
    assert deciding.standing(page, deciding.named("before", board, "plain")) == deciding.row("before", found)
    for other in (
        ("now", board, "plain"),
        ("before", board, "features"),
        ("before", load_map("m1"), "plain"),
    ):
        assert deciding.standing(page, deciding.named(*other)) is None
