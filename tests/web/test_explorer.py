"""Analysis: the review of a match, moves of one's own from any ply and back to the match, and what an engine of the
house thinks of a position.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.sync_api import Locator, Page, expect

from arena.maps.game_on_map import make_game_on_map
from arena.protocol.record import RecordedMove, format_record_line
from arena.server.web.analysis import ENGINE_TIMEOUT_SECONDS
from testkit.browser import BrowserArena, box_of, find_truncated_texts, run_arena, wait_until
from tests.match.recorded import random_record
from tests.web.screenshots import SIZES, made_up

ANSWER_MS = 1000 * (ENGINE_TIMEOUT_SECONDS + 10)
"""The longest time in which the server answers a question to an engine."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserArena]:
    """A server where guests may play the house, and where all tests may ask as much as they like."""
    budget = "--set=limits.work_ms_per_second=1000"
    with run_arena(tmp_path_factory.mktemp("explorer"), budget, is_private=False) as running:
        yield running


def begin(page: Page) -> None:
    """Stop the match at its start, which would play by itself."""
    expect(page.locator(".map")).to_be_visible()
    page.keyboard.press("Home")
    expect(page.locator(".told")).to_contain_text("The start")


@pytest.fixture
def shown(served: BrowserArena, page: Page, tmp_path: Path) -> Page:
    file = tmp_path / "one.jsonl"
    file.write_text(format_record_line(made_up("path4")) + "\n", encoding="utf-8")
    page.goto(f"{served.url}file")
    page.locator("input[type=file]").set_input_files(file)
    begin(page)
    page.get_by_role("slider").fill("2")
    expect(page.locator(".told")).to_contain_text("Move 2,")
    return page


def test_the_first_click_after_a_drag_that_ends_beside_the_board_is_taken(shown: Page) -> None:
    shown.get_by_role("button", name="Try your own moves").click()
    box = box_of(shown.locator(".zoomed"))
    shown.mouse.move(box["x"] + 20, box["y"] + 20)
    shown.mouse.down()
    shown.mouse.move(box["x"] + 20, box["y"] - 20, steps=3)
    shown.mouse.up()
    shown.locator("[data-source]").first.click()
    expect(shown.locator("[data-target]").first).to_be_visible()


def test_moves_of_ones_own_are_tried_and_the_match_is_as_it_was(shown: Page) -> None:
    owners = "() => [...document.querySelectorAll('.map > .spot')].map((each) => each.dataset.owner + each.textContent)"
    before = shown.evaluate(owners)
    shown.get_by_role("button", name="Try your own moves").click()
    expect(shown.locator(".told")).to_have_text("Your own moves from move 2: Blue to move")
    for ply in (3, 4):
        shown.locator("[data-source]").first.click()
        shown.locator("[data-target]").first.click()
        expect(shown.locator(".told")).to_contain_text(f"Your own line, move {ply}:")
    expect(shown.get_by_role("region", name="Analysis")).to_contain_text("Your line from move 2")
    own = shown.locator(".moves .tried")
    expect(own.locator(".number")).to_have_text(["3", "4"])
    expect(own.locator(".battle")).to_have_text([re.compile(r"^\d+ → \d+\s%$")] * 2)
    expect(shown.locator(".plot .tried")).to_have_attribute("d", re.compile("^M.*L.*L"))
    shown.get_by_role("button", name="Take back").click()
    expect(own).to_have_count(1)
    expect(shown.locator(".told")).to_contain_text("Your own line, move 3:")
    shown.get_by_role("button", name="Back to the match").click()
    expect(shown.locator(".told")).to_contain_text("Move 2,")
    expect(own).to_have_count(0)
    assert shown.evaluate(owners) == before
    expect(shown.locator("[data-source]")).to_have_count(0)
    shown.get_by_role("button", name="Try your own moves").click()
    shown.get_by_role("button", name="Next move").click()
    expect(shown.locator(".told")).to_contain_text("Move 3,")


def show_three_territories(
    page: Page, address: str, folder: Path, armies: int, moves: list[RecordedMove]
) -> None:
    """Show a match on three territories in a row: Mali with Blue's `armies`, then Orange's Egypt with 3 and Gaul with 9."""
    setup = {
        "territories": ["Mali", "Egypt", "Gaul"],
        "neighbours": [[1], [0, 2], [1]],
        "places": [[0, 0], [20, 0], [40, 0]],
        "territory_cap": 50,
        "armies_to_win": 50,
        "ply_limit": 100,
        "start": [["maxie", armies], ["minnie", 3], ["minnie", 9]],
    }
    file = folder / "one.jsonl"
    file.write_text(
        format_record_line(replace(made_up("m2"), setup=setup, moves=moves)) + "\n", encoding="utf-8"
    )
    page.goto(address)
    page.locator("input[type=file]").set_input_files(file)
    begin(page)


def test_a_battle_is_foretold_with_the_replies_that_threaten(
    served: BrowserArena, page: Page, tmp_path: Path
) -> None:
    show_three_territories(page, f"{served.url}file", tmp_path, 5, [])
    page.get_by_role("button", name="Try your own moves").click()
    page.locator("[data-source]").click()
    preview = page.locator(".preview > span")
    expect(preview).to_have_count(0)
    outcome = page.locator(".map .outcomes text")
    expect(outcome).to_have_text("3 after")
    page.locator("[data-target]").hover()
    expect(preview).to_have_text(["→ Egypt, 5 vs 3: win, 3 after", "Gaul can retake it with 10"])
    expect(page.locator(".told")).to_be_hidden()


def test_an_attacker_who_wins_a_tie_is_told_so(empty: BrowserArena, page: Page, tmp_path: Path) -> None:
    show_three_territories(page, f"{empty.url}file/0", tmp_path, 3, [RecordedMove([0, 1], 1.0)])
    page.get_by_role("button", name="Try your own moves").click()
    page.locator("[data-source]").click()
    expect(page.locator(".map .outcomes text")).to_have_text("1 after")
    page.locator("[data-target]").hover()
    expect(page.locator(".preview > span").first).to_have_text("→ Egypt, 3 vs 3: win the tie, 1 after")
    page.get_by_role("button", name="Back to the match").click()
    page.get_by_role("button", name="Next move").click()
    expect(page.locator(".told")).to_contain_text(
        "Move 1, ada: Mali → Egypt, 3 against 3: taken, attackers win ties"
    )
    expect(page.locator(".map .fight text").first).to_have_text("3 vs 3")


def test_the_focus_stays_on_the_map_after_a_move_by_keys(shown: Page) -> None:
    shown.get_by_role("button", name="Try your own moves").click()
    shown.locator("[data-source]").first.focus()
    shown.keyboard.press("Enter")
    target = shown.locator("[data-target]").first
    number = target.get_attribute("data-spot")
    target.focus()
    shown.keyboard.press("Enter")
    expect(shown.locator(".told")).to_contain_text("Your own line, move 3:")
    expect(shown.locator(f".spot[data-spot='{number}']")).to_be_focused()


def test_an_engine_finds_the_best_move_and_its_line_is_played_out(shown: Page) -> None:
    told = shown.locator(".explorer [role=status]")
    shown.get_by_role("button", name="Try your own moves").click()

    def answered() -> bool:
        shown.get_by_role("button", name="Find the best move").click()
        expect(told).to_have_text(
            re.compile("Best move|took too long|try again"), use_inner_text=True, timeout=ANSWER_MS
        )
        return "Best move" in told.inner_text()

    wait_until(answered, 500)  # on a busy machine the engine may take too long, and is asked again
    assert re.fullmatch(r"Best move: .*", told.inner_text())
    play = shown.get_by_role("button", name=re.compile("^Play out .+ → .+$"))
    best = play.inner_text().removeprefix("Play out ")
    shown.get_by_text("Details", exact=True).click()
    expect(shown.locator(".explorer details p")).to_have_text(
        re.compile(r"alphabeta, \d+ moves ahead: value .*→.*Next best: .*→.*Solved: a "),
        use_inner_text=True,
    )
    expect(shown.locator(".map .better")).to_have_attribute("d", re.compile("^M"))
    play.click()
    expect(shown.locator(".told")).to_have_text(f"Your own line, move 3: {best}")
    shown.get_by_role("button", name="Take back").click()
    expect(shown.get_by_role("button", name="Find the best move")).to_be_visible()


@pytest.fixture(scope="module")
def judged(served: BrowserArena, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A finished match of moves by chance in the server's store; its id."""
    record, _ = random_record(make_game_on_map("riskless", "italy"), 3, 6)
    file = tmp_path_factory.mktemp("judged") / "one.jsonl"
    file.write_text(
        format_record_line(replace(record, match="judged", started="2026-01-01T00:00:00Z")) + "\n",
        encoding="utf-8",
    )
    served.run_command("import", str(file))
    return "judged"


def analyse(page: Page) -> Locator:
    """Have the match analysed, and return the line that tells both accuracies. A busy machine is asked again."""
    told = page.locator(".review [role=status]")

    def answered() -> bool:
        page.get_by_role("button", name="Analyse", exact=True).press("Enter")
        expect(told).to_have_text(re.compile("Accuracy|took too long|try again"), timeout=ANSWER_MS)
        return "Accuracy" in told.inner_text()

    wait_until(answered, 500)
    return told


def test_a_finished_match_is_analysed_and_a_better_move_is_played_out(
    served: BrowserArena, judged: str, page: Page
) -> None:
    for width, height in ((390, 780), (1280, 900)):
        page.set_viewport_size({"width": width, "height": height})
        page.goto(f"{served.url}match/{judged}/1")
        expect(page.get_by_role("button", name="Analyse", exact=True)).to_be_in_viewport(ratio=1)
    told = analyse(page)
    expect(page.get_by_role("slider")).to_be_focused()  # for who has pressed a key
    review = served.fetch_json(f"review/{judged}")
    shares = [round(review["players"][seat]["accuracy"]) for seat in ("maxie", "minnie")]
    expect(told).to_have_text(re.compile(rf"^Accuracy: .+\s{shares[0]}\s%, .+\s{shares[1]}\s%$"))
    expect(told).to_be_in_viewport(ratio=1)
    marks = [each["mark"] for each in review["moves"]]
    expect(page.locator(".plot .chances")).to_have_attribute("d", re.compile("L.*L"))
    mistake = page.get_by_role("button", name="Next mistake")
    costs = {at: each["chance_lost"] for at, each in enumerate(review["moves"], 1) if each["mark"]}
    expect(page.locator(".moves .mark")).to_have_text(marks)
    largest = max(costs, key=lambda at: costs[at])
    told_in_turn = sorted(sorted(costs, key=lambda at: -costs[at])[:5])
    expect(page.locator(".marks span")).to_have_count(len(told_in_turn))
    drops = (page.locator(".plot .drop").get_attribute("d") or "").count("M")
    dots = [
        (each.get_attribute("d") or "").count("M")
        for each in page.locator(".plot .moments[data-owner]").all()
    ]
    assert drops == sum(dots) == len(told_in_turn), "the graph marks what the slider marks"
    expect(page.locator(".plot figcaption")).not_to_contain_text("mistake")  # the heading beside counts them
    ply = told_in_turn[0]
    later = [at for at in told_in_turn if at > largest]  # the review begins at the largest mistake
    expect(page.locator(".moves a[aria-current] .number")).to_have_text(str(largest))
    study = page.get_by_role("region", name="Analysis")
    for at in [*later, ply]:
        mistake.click()
        expect(page.locator(".moves a[aria-current] .number")).to_have_text(str(at))
        which = "Largest mistake ·" if at == largest else "Mistake"
        number = told_in_turn.index(at) + 1
        expect(study.get_by_role("heading")).to_have_text(f"{which} {number} of {len(told_in_turn)}")
    page.get_by_role("button", name="Previous mistake").click()
    expect(page.locator(".moves a[aria-current] .number")).to_have_text(str(told_in_turn[-1]))
    mistake.click()
    expect(page.locator(".map .better")).to_have_attribute("d", re.compile("^M"))
    page.get_by_role("button", name="Previous move").click()
    expect(page.locator(".map .better")).not_to_have_attribute("d", re.compile(""))
    page.locator(".moves a").nth(ply - 1).click()
    expect(study.locator(".mark")).to_have_text(marks[ply - 1])
    expect(page.locator(".map")).to_have_attribute("aria-label", re.compile(f"^Map, move {ply - 1}:"))
    expect(page.locator(".map .move")).to_have_attribute("d", re.compile("^M"))  # played from this position
    page.locator(".moves a").nth(ply).click()
    chance = review["moves"][ply][
        "chance"
    ]  # of the move after the first mistake, or before it if it is one, too
    for number in (ply + 1, ply + 2):
        if number <= len(marks) and marks[number - 1]:
            mistaken = review["moves"][number - 1]
            chance = mistaken["chance"] + (1 if number % 2 else -1) * mistaken["chance_lost"]
            break
    chance = min(0.99, max(0.01, chance))
    percent = round(100 * max(chance, 1 - chance))
    label = page.locator(".viewer .share-of").filter(has_text=f"{percent} %")
    expect(label).to_have_count(2 if percent == 50 else 1)
    page.locator(".moves a").nth(ply - 1).click()
    play = page.get_by_role("button", name="Play out")
    lines = study.locator(".of-arrow")
    expect(lines).to_have_text(
        [re.compile(r"^Best: .* → .* \d+\s%$"), re.compile(r"^Played: .* → .*\s[?!]+\d+\s%$")]
    )
    expect(study.locator(".fall")).to_have_text(re.compile(r"^.+ \d+ → \d+\s%$"))
    played = lines.last.locator("strong").text_content() or ""
    assert re.search(r"\S\xa0[?!]+$", played), "the mark never has a line of its own"
    better = lines.first.locator("strong").inner_text().removeprefix("Best: ").strip()
    play.click()
    expect(page.locator(".told")).to_have_text(f"Your own line, move {ply}: {better}")
    expect(study.get_by_role("button", name=re.compile("^(Play out|Find the best move)"))).to_be_visible()
    page.get_by_role("button", name="Back to the match").click()
    expect(page.locator(".told")).to_contain_text(f"Move {ply},")
    for width, height in SIZES.values():
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert not find_truncated_texts(page.locator(".scoreboard, .telling, .study")), (width, height)
    for width, height in ((390, 780), (360, 640), (844, 390)):
        page.set_viewport_size({"width": width, "height": height})
        for each in (mistake, play):  # without scrolling
            each.click(trial=True)
            expect(each).to_be_in_viewport(ratio=0.99)
        expect(page.locator(".map .better").first).to_be_in_viewport(ratio=1)
        arrow = page.locator(".map .better").first
        wait_until(lambda box=arrow: sum(box_of(box)[side] for side in ("width", "height")) > 20)
        buttons = [page.get_by_role("button", name=f"Next {each}") for each in ("mistake", "move")]
        for part in (*buttons, page.locator(".tug-bar")):
            expect(part).to_be_in_viewport(ratio=0.99)
        assert not find_truncated_texts(page.get_by_role("tablist"))
        expect(page.locator(".controls")).to_be_in_viewport(ratio=0.99)
    page.set_viewport_size({"width": 768, "height": 1024})
    for part in (play, *(page.locator(sign) for sign in (".plot", ".controls", ".moves"))):
        expect(part).to_be_in_viewport(ratio=0.95)
    row = box_of(page.locator(".moves li").last)["height"]
    assert box_of(page.locator(".moves"))["height"] >= 6 * row, (
        "the moves are beside the curve and the mistake"
    )
    page.set_viewport_size({"width": 360, "height": 640})
    expect(page.locator(".review")).to_be_in_viewport(ratio=1)
    wait_until(lambda: (page.locator(".board").bounding_box() or {"height": 0})["height"] >= 240)
    expect(page.locator("nav")).to_be_hidden()


REVIEWED = """async ([line, costs]) => {
  const from = (path) => import(new URL(path, document.querySelector('script[type=module]').src).href);
  const [{ Match }, { Viewer }] = [await from('match.js'), await from('parts/viewer.js')];
  const viewer = new Viewer(Match.fromRecord(JSON.parse(line)), { link: () => '#' });
  document.querySelector('main').replaceChildren(viewer.element);
  viewer.begin(1);
  viewer.review.moves = viewer.match.moves.map((_, n) => ({ mark: costs[n] ? '?' : '', chance: n / 100, chance_lost: costs[n] ?? 0, line: [] }));
  viewer.match.judged = viewer.review.judge();
  viewer.review.tell('Accuracy');
  globalThis.viewer = viewer;
}"""
"""Shows a match whose moves lost these chances of winning."""


def count_marked(marks: Locator) -> int:
    """Return how many mistakes the marks on the slider stand for."""
    return sum((mark.get_attribute("aria-label") or "").count("Mistake, move") for mark in marks.all())


def test_the_review_counts_all_mistakes_once_and_the_sentence_agrees_with_it(
    empty: BrowserArena, page: Page
) -> None:
    page.goto(f"{empty.url}file")  # a view that requests nothing, so that it does not come after the match
    record = made_up("m2")
    costs = [0, 0.1, 0.3, 0.07, 0.2, 0, 0.4, 0.08]
    costs += [0] * (len(record.moves) - len(costs) - 1) + [0.06]
    page.evaluate(REVIEWED, [format_record_line(record), costs])
    study = page.get_by_role("region", name="Analysis")
    expect(study).to_contain_text("5 largest of 7 mistakes")
    expect(study).to_contain_text("The largest: move 7")
    marks = page.locator(".marks button")
    assert count_marked(marks) == 5, "the costliest"
    expect(marks.first).to_be_hidden()  # the graph shows them
    widths = [box_of(mark)["x"] for mark in marks.all()]
    assert all(after - before >= 24 for before, after in pairwise(widths)), "a finger can press each"
    story = page.locator(".story")
    for ply, heading, sentence in (
        (7, "Largest mistake · 4 of 5", "The largest mistake, by ada"),
        (2, "Mistake 1 of 5", "A mistake by bob"),
        (4, "A smaller mistake", "A mistake by bob"),
    ):
        page.get_by_role("slider").fill(str(ply))
        expect(study).to_contain_text(heading)
        expect(story).to_have_text(sentence)
        chance = (ply - 1) / 100 + (1 if ply % 2 else -1) * costs[ply - 1]  # with the better move
        ahead = 100 - round(100 * max(0.01, chance))
        expect(page.locator(".plot p").last).to_have_text(f"Before move {ply} · bob {ahead} %")
        expect(page.locator(".title")).to_contain_text(f"Before move {ply}")
        if chance > 0:
            expect(study.locator(".fall")).to_have_text(f"ada {100 - ahead} → {ply - 1} %")
        expect(page.locator(".share-of")).to_have_text([f"ada {100 - ahead} %", f"bob {ahead} %"])
        expect(page.locator(".chance-of")).to_have_text("Chance before the move")
        expect(page.locator(".told")).to_have_text(re.compile(rf"^Move {ply}, \w+: (?!.*(taken|held))"))
    page.get_by_role("slider").press("End")
    expect(story).to_contain_text("ada wins")
    expect(story).to_have_attribute("data-owner", "maxie")  # although the last mistake was of bob
    stopped = "() => { viewer.refresh(); viewer.stop(); viewer.refreshSoon(); return viewer.due ?? null; }"
    assert page.evaluate(stopped) is None, "late answers do not draw a match again that has left the page"


def test_a_file_of_ones_own_is_analysed(served: BrowserArena, page: Page, tmp_path: Path) -> None:
    plies = 4
    record, _ = random_record(make_game_on_map("tictactoe"), 5, plies)
    file = tmp_path / "one.jsonl"
    file.write_text(format_record_line(record) + "\n", encoding="utf-8")
    page.goto(f"{served.url}file")
    page.locator("input[type=file]").set_input_files(file)
    analyse(page)
    expect(page.locator(".moves .mark")).to_have_count(plies)
    ply = next((ply for ply, text in enumerate(page.locator(".moves .mark").all_inner_texts(), 1) if text), 0)
    assert ply, "moves by chance lose something"
    page.locator(".moves a").nth(ply - 1).click()
    page.get_by_role("button", name="Play out").click()
    expect(page.locator(".told")).to_contain_text(f"Your own line, move {ply}: ")


def test_what_was_played_from_a_position_is_told_and_tried(
    served: BrowserArena, judged: str, page: Page
) -> None:
    page.set_viewport_size({"width": 390, "height": 780})
    page.goto(f"{served.url}match/{judged}/0")
    page.get_by_role("tab", name="Moves").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Tab")
    expect(page.get_by_role("tabpanel", name="In words")).to_be_focused()
    page.get_by_role("tab", name="Moves").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Openings")).to_be_focused()
    expect(page.locator(".moves")).to_be_hidden()
    opening = page.locator(".openings")
    moves = [each["move"] for each in served.fetch_json(f"record/{judged}")["moves"]]
    names = served.fetch_json("map/italy")["setup"]["territories"]
    for ply, (source, target) in enumerate(moves[:2], 1):
        text = f"{names[source]} → {names[target]}"
        row = opening.locator("tbody tr").filter(has_text=text)
        expect(row.locator("td")).to_have_text([text, "1", "100 %"])
        expect(opening.locator("[role=status]")).to_have_text(
            "Played from here in the newest match on Italy."
        )
        row.get_by_role("button").click()
        expect(page.locator(".told")).to_have_text(f"Your own line, move {ply}: {text}")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_nobody_is_advised_while_playing(served: BrowserArena, page: Page) -> None:
    page.goto(f"{served.url}#/play/house-greedy")
    page.locator("[name=map][value=path4]").check()  # other tests count the matches on Italy
    page.get_by_role("button", name="Start the match").click()
    expect(page.locator("[data-source]").first).to_be_visible()
    expect(page.locator(".explorer")).to_be_hidden()
    expect(page.locator(".review")).to_be_hidden()
    expect(page.locator(".openings")).to_be_hidden()
