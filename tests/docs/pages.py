"""Documentation pages as tests read them: every page but the changelog, its code spans and its blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from testkit.project_files import list_project_files

ROOT = Path(__file__).parents[2]
FENCED = re.compile(r"^ *```\w*\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`]+)`")


FILES = [name for name in list_project_files() if (ROOT / name).is_file()]
PAGES = [name for name in FILES if name.endswith(".md") and name != "CHANGELOG.md"]


def text_of(page: str) -> str:
    """Return the text of a page."""
    return (ROOT / page).read_text(encoding="utf-8")


def prose_of(page: str) -> str:
    """Return the text of a page with its fenced blocks blanked out, so that lines keep their numbers."""
    return FENCED.sub(lambda block: "\n" * block[0].count("\n"), text_of(page))


def spans(page: str) -> Iterator[tuple[str, str]]:
    """Yield the code spans in the prose of a page, each with its place, as in `README.md:12`."""
    prose = prose_of(page)
    for found in SPAN.finditer(prose):
        yield f"{page}:{prose.count(chr(10), 0, found.start()) + 1}", " ".join(found[1].split())
