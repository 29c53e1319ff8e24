"""The page of an invitation, the one of an owner's bots, and the host's."""

from __future__ import annotations

import re
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from playwright.sync_api import APIResponse, Page, Route, expect

from testkit.browser import run_arena, wait_until
from tests.bots.command_line import arena as command


def test_a_person_takes_a_name_connects_a_bot_and_looks_after_it(tmp_path: Path, page: Page) -> None:
    database = f"sqlite:///{tmp_path / 'arena.db'}"
    rest = "--set=pool.pause_seconds=1000"  # after one match, which leaves the cores to the browser
    with run_arena(tmp_path, "--map", "path4", "--tc", "60/move", rest, is_private=False) as running:
        opponent = offline("token", "create", "lion", "--db", database)
        words = ("invite", "ada", "--bots", "2", "--url", running.url, "--db", database)
        link = re.search(r"http://\S+/join/\S+", offline(*words))
        assert link is not None
        page.goto(link[0])
        expect(page.get_by_role("heading", name="Choose a name for your bot, ada")).to_be_visible()
        name = page.get_by_label("Name of the bot")
        take = page.get_by_role("button", name="Take this name")
        name.fill("house-ada")
        take.click()
        expect(page.get_by_role("alert")).to_contain_text("looks like a name of the server's own engines")
        name.fill("tiger")
        take.click()
        expect(page.get_by_role("heading", name="The token of tiger")).to_be_visible()
        token = page.get_by_label("Token", exact=True).input_value()
        line = page.get_by_label("Connect your bot").input_value()
        assert line == f"arena bot my_bot.py --name tiger --token {token} --url ws{running.url[4:-1]}"
        assert token not in page.url

        for bot, secret in {"tiger": token, "lion": opponent.split()[-1]}.items():
            running.connect_bot("random", bot, token=secret)
        wait_until(lambda: finished(tmp_path / "arena.db", "tiger") >= 1)
        page.get_by_role("link", name="Your bots").click()
        tiger = page.get_by_role("region", name="tiger")
        expect(tiger).to_be_visible()
        assert token not in page.content(), "it was shown once"
        name = page.get_by_label("Name of the bot")
        name.fill("wolf")
        page.get_by_role("button", name="Add the bot").click()
        expect(page.get_by_role("heading", name="The token of wolf")).to_be_visible()
        expect(name).to_have_count(0)

        page.reload()
        expect(page.get_by_role("region", name="wolf")).to_be_visible()
        tiger.get_by_role("button", name="Log").first.click()
        expect(tiger.get_by_role("region", name="Log")).to_contain_text("ready")
        expect(tiger.get_by_role("region", name="Log")).to_contain_text("→")
        held: list[Route] = []

        def hold(route: Route) -> None:
            held.append(route)

        page.route("**/api/me", hold)
        with page.expect_request("**/api/me"):
            tiger.get_by_role("button", name="New token").click()
        expect(page.get_by_role("heading", name="The token of tiger")).to_be_visible()
        # what was opened now would be gone with the answer
        expect(page.locator("[inert]").get_by_role("region", name="wolf", include_hidden=True)).to_have_count(
            1
        )
        held[0].continue_()
        page.unroute("**/api/me", hold)
        expect(page.locator("[inert]")).to_have_count(0)
        assert page.get_by_label("Token", exact=True).input_value() != token
        page.get_by_role("region", name="wolf").get_by_role("button", name="Retire").click()
        page.get_by_role("button", name="Yes, retire").click()
        expect(page.get_by_text("Retired: wolf")).to_be_visible()

        page.get_by_role("button", name="Sign out").click()
        page.get_by_label("Name of one of your bots").fill("tiger")
        page.get_by_label("Token", exact=True).fill(token)
        page.get_by_role("button", name="Show my bots").click()
        expect(page.get_by_role("alert").first).to_contain_text(
            "This is not the token of a bot with this name"
        )


def test_a_host_sees_who_is_connected_and_bans_and_tells_all(tmp_path: Path, page: Page) -> None:
    database = f"sqlite:///{tmp_path / 'arena.db'}"
    with run_arena(tmp_path, bots=("random",)) as running:
        token = offline("token", "create", "tower", "--role", "admin", "--db", database).split()[-1]
        offline("token", "create", "wolf", "--owner", "ada", "--db", database)
        page.goto(f"{running.url}host")
        page.get_by_label("Admin name").fill("tower")
        page.get_by_label("Token", exact=True).fill("a guess")
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_role("alert")).to_contain_text("This is not the token of an admin")
        page.get_by_label("Admin name").fill("tower")
        page.get_by_label("Token", exact=True).fill(token)
        page.get_by_role("button", name="Log in").click()
        bots = page.get_by_role("region", name="Connected bots")
        expect(bots).to_contain_text("127.0.0.1")
        bots.get_by_role("button", name="Ban").click()
        bans = page.get_by_role("region", name="Bans and notices")
        expect(bans).to_contain_text("random")
        expect(bots).to_have_count(0)
        bans.get_by_role("button", name="Lift").click()
        expect(bans).to_have_count(0)
        owner = page.get_by_role("form", name="Owner")
        owner.get_by_label("Owner").fill("adda")
        owner.get_by_role("button", name="Ban all bots").click()
        expect(page.get_by_role("alert")).to_contain_text("No owner is called 'adda'; did you mean \"ada\"?")
        owner.get_by_label("Owner").fill("ada")
        owner.get_by_role("button", name="Ban all bots").click()
        expect(bans).to_contain_text("owner ada")
        bans.get_by_role("button", name="Lift").click()
        expect(bans).to_have_count(0)
        notice = page.get_by_role("form", name="Notice")
        notice.get_by_label("Notice").fill("An upgrade at eight.")
        notice.get_by_role("button").click()
        expect(bans).to_contain_text("An upgrade at eight.")
        expect(page.locator(".bar").filter(has_text="An upgrade at eight.")).to_be_visible()


def test_a_host_renames_a_bot_and_takes_it_back(tmp_path: Path, page: Page) -> None:
    database = f"sqlite:///{tmp_path / 'arena.db'}"
    with run_arena(tmp_path) as running:
        token = offline("token", "create", "tower", "--role", "admin", "--db", database).split()[-1]
        offline("token", "create", "wolf", "--owner", "ada", "--db", database)
        page.goto(f"{running.url}host")
        page.get_by_label("Admin name").fill("tower")
        page.get_by_label("Token", exact=True).fill(token)
        page.get_by_role("button", name="Log in").click()
        form = page.get_by_role("form", name="Rename")
        form.get_by_label("Bot").fill("wolf")
        form.get_by_label("New name").fill("house-wolf")
        form.get_by_role("button").click()
        expect(page.get_by_role("alert")).to_contain_text("looks like a name of the server's own engines")
        form.get_by_label("New name").fill("tiger")
        form.get_by_role("button").click()
        renamed = page.get_by_role("region", name="Renamed bots")
        expect(renamed.get_by_role("row", name="wolf tiger")).to_contain_text("done")
        expect(page.get_by_text("looks like a name of the server's own engines")).to_have_count(0)
        assert "| ada   | tiger " in offline("owner", "list", "--db", database)
        renamed.get_by_role("button", name="Undo").click()
        expect(renamed.get_by_role("row", name="tiger wolf")).to_contain_text("done")
        assert "| ada   | wolf " in offline("owner", "list", "--db", database)


def test_an_answer_from_before_an_action_is_not_shown_after_it(tmp_path: Path, page: Page) -> None:
    database = f"sqlite:///{tmp_path / 'arena.db'}"
    with run_arena(tmp_path) as running:
        token = offline("token", "create", "tower", "--role", "admin", "--db", database).split()[-1]
        page.goto(f"{running.url}host")
        page.get_by_label("Admin name").fill("tower")
        page.get_by_label("Token", exact=True).fill(token)
        page.get_by_role("button", name="Log in").click()
        notice = page.get_by_role("form", name="Notice")
        notice.get_by_label("Notice").fill("An upgrade at eight.")
        held: list[tuple[Route, APIResponse]] = []

        def hold(route: Route) -> None:
            if held:
                route.continue_()
            else:
                held.append((route, route.fetch()))

        page.route("**/api/host", hold)  # the next of the regular requests
        wait_until(lambda: page.evaluate("true") and held)
        notice.get_by_role("button").click()
        bans = page.get_by_role("region", name="Bans and notices")
        expect(bans).to_contain_text("An upgrade at eight.")
        route, answer = held[0]
        with page.expect_event("requestfinished", lambda request: request.url.endswith("/api/host")):
            route.fulfill(response=answer)
        page.evaluate(
            "() => new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)))"
        )
        assert bans.count() == 1


def offline(*words: str) -> str:
    """Return what a command prints. The browser has an event loop in the thread of the test."""
    with ThreadPoolExecutor(1) as thread:
        told = thread.submit(command, *words).result()
    assert told.code == 0, told
    return told.stdout


def finished(file: Path, name: str) -> int:
    query = "SELECT count(*) FROM matches WHERE finished IS NOT NULL AND ? IN (maxie, minnie)"
    with closing(sqlite3.connect(file)) as store:
        return int(store.execute(query, (name,)).fetchone()[0])
