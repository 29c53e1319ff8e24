"""Every file, folder, module and link that a documentation page names exists."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

import pytest

from benchmarks.engine.saved_results import BENCHMARK_NAMES
from tests.docs.pages import FILES, PAGES, ROOT, prose_of, spans, text_of

FOLDERS = {str(folder) for name in FILES for folder in PurePosixPath(name).parents}
EVERYTHING = {"/" + name for name in [*FILES, *FOLDERS]}
TOPS = {name.partition("/")[0] for name in FILES}
PATH = re.compile(r"\.?\w[\w.*-]*(?:/[\w.*-]*)*")
SOURCE = re.compile(r"\w[\w*-]*\.(?:py|js|md|css|html|yml|lock)")
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
MODULE = re.compile(r"python -m (\w+\.[\w.]*\w)")
PART = re.compile(r"python -m benchmarks ([a-z]\w*)")
PACKAGES = ("arena", "benchmarks", "testkit", "tests")

READERS = {
    *("docker-compose.override.yml", "file.py", "my_bot.py", "report.html"),
    *("my_bot/my_bot.py", "env/bin/activate", "train.py", "learned.py"),
}
"""Files that the readers of a page have or make themselves."""


def is_meant_for_one(word: str) -> bool:
    """Return True if the word is a path of this repository, true or not."""
    if word in READERS or not PATH.fullmatch(word):
        return False
    if "/" in word:
        return word.partition("/")[0] in TOPS or bool(SOURCE.search(word))
    return bool(SOURCE.fullmatch(word))


def exists(word: str, page: str) -> bool:
    """Return True if a tracked file or folder ends like the word, in which NAME and * stand for anything.

    A page that lies in a folder of code may leave out where below that folder the file is; other pages, where at all.
    """
    path = word.strip("/").replace("NAME", "*")
    folder = page.rpartition("/")[0]
    below = "/" if folder in ("", "docs", "benchmarks") else f"/{folder}/"
    return any(
        fnmatch(each, f"/{path}") or (each.startswith(below) and fnmatch(each, f"*/{path}"))
        for each in EVERYTHING
    )


@pytest.mark.parametrize("page", PAGES)
def test_each_path_exists(page: str) -> None:
    words = [(place, word.strip(",;:()")) for place, span in spans(page) for word in span.split()]
    false = [f"{place}: {word}" for place, word in words if is_meant_for_one(word) and not exists(word, page)]
    assert not false, "\n".join(["no such files:", *false])


@pytest.mark.parametrize("page", PAGES)
def test_each_link_leads_somewhere(page: str) -> None:
    folder = (ROOT / page).parent
    false = [target for target in LINK.findall(prose_of(page)) if not (folder / target).exists()]
    assert not false, "\n".join([f"{page} links to no such files:", *false])


@pytest.mark.parametrize("page", PAGES)
def test_each_module_that_is_run_exists(page: str) -> None:
    false = []
    for name in MODULE.findall(text_of(page)):
        path = ROOT.joinpath(*name.split("."))
        there = path.with_suffix(".py").exists() or (path / "__main__.py").exists()
        if not (there and name.startswith(PACKAGES)):
            false.append(name)
    false += [f"benchmarks {name}" for name in PART.findall(text_of(page)) if name not in BENCHMARK_NAMES]
    assert not false, "\n".join([f"{page} runs no such modules:", *false])


def test_false_paths_are_found() -> None:
    for word in ("server/nothing.py", "docs/nothing/", "nothing_of_the_kind.py", "reports/nothing.py"):
        assert is_meant_for_one(word), word
        assert not exists(word, "README.md"), word
    assert (
        sum(is_meant_for_one(word) for page in PAGES for _, span in spans(page) for word in span.split())
        > 150
    )
    assert Path("README.md").name in PAGES
