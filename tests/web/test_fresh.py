"""Each test has a page that knows nothing of those before it, though they share a browser's process."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from testkit.browser import BrowserArena

KEPT = """() => {
  const before = [localStorage.getItem('kept'), sessionStorage.getItem('kept'), document.cookie];
  localStorage.setItem('kept', 'yes');
  sessionStorage.setItem('kept', 'yes');
  document.cookie = 'kept=yes';
  return before;
}"""


@pytest.mark.parametrize("turn", ["first", "second"])
def test_nothing_is_kept_from_the_test_before(empty: BrowserArena, page: Page, turn: str) -> None:
    page.goto(f"{empty.url}healthz")
    assert page.evaluate(KEPT) == [None, None, ""]
    assert page.evaluate(KEPT) == ["yes", "yes", "kept=yes"]
