"""Documentation pages as tests read them: every tracked page but the changelog, its code spans and its blocks."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCED = re.compile(r"^ *```\w*\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`]+)`")


def tracked() -> list[str]:
    """Return the paths that git tracks, or those of all files where this is no checkout."""
    if not (ROOT / ".git").exists():
        return [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file()]
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return [name for name in listing.stdout.split("\0") if (ROOT / name).is_file()]


TRACKED = tracked()
PAGES = sorted(name for name in TRACKED if name.endswith(".md") and name != "CHANGELOG.md")


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
