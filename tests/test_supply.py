"""All parts of a server are pinned, and each promise of SECURITY.md names the test that checks it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SECURITY = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
PROMISES = re.findall(
    r"^- (.+)$", SECURITY.partition("## What is promised")[2].partition("\n## ")[0], re.MULTILINE
)


LIMITS = re.findall(
    r"^(?:- )?(\*\*(?!Many).+)$",
    SECURITY.partition("## Cost of requests")[2].partition("\n## ")[0],
    re.MULTILINE,
)
THREATS = re.findall(
    r"^\|.+\| ([^|]+) \|$", SECURITY.partition("| tested in |\n| --- | --- | --- | --- |\n")[2], re.MULTILINE
)


@pytest.mark.parametrize("number", range(len(PROMISES + LIMITS)))
def test_each_promise_and_each_limit_names_the_tests_that_hold_it(number: int) -> None:
    assert re.search(r"\(`[^)]+`\)$", (PROMISES + LIMITS)[number]), (PROMISES + LIMITS)[number]


def test_each_threat_names_its_tests() -> None:
    assert len(THREATS) > 40
    for tests in THREATS:
        assert re.fullmatch(r"`[^`]+`(, `[^`]+`)*", tests), tests


def test_all_tests_and_benchmarks_that_are_named_exist() -> None:
    for path in re.findall(r"`((?:tests|benchmarks)/[^`]+)`", SECURITY):
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-build.lock", "requirements-pip.lock"])
def test_every_package_that_is_installed_has_one_version_and_hashes(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    packages = re.findall(r"^(?=\w)(.+(?:\n +.+)*)", text, re.MULTILINE)
    assert packages
    for package in packages:
        assert re.match(r"[\w.\[\]-]+==[\w.]+ ", package), package
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", package), package


def test_every_container_runs_without_rights_on_a_root_that_it_cannot_write() -> None:
    text = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    image = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert re.search(r"^USER arena$", image, re.MULTILINE)
    assert "HEALTHCHECK" in image
    assert '[CMD, "true"]' not in text, "a check that checks nothing"
    services = text.partition("\nservices:\n")[2].partition("\nsecrets:\n")[0]
    blocks = re.split(r"^  (?=[\w-]+:)", services, flags=re.MULTILINE)[1:]
    anchors = dict(re.findall(r"&([\w-]+)\n((?: {2,}.*\n)+)", text))
    for block in blocks:
        if block.startswith("db:"):
            continue  # PostgreSQL's own image begins as root, and gives that up
        whole, names = block, set(re.findall(r"\*([\w-]+)", block))
        while names:
            more = " ".join(anchors.get(name, "") for name in names)
            whole, names = whole + more, set(re.findall(r"\*([\w-]+)", more))
        for right in ("cap_drop: [ALL]", "read_only: true", "no-new-privileges:true"):
            assert right in whole, f"{block.partition(':')[0]} lacks {right}"


def test_the_base_image_can_be_given_by_its_digest() -> None:
    image = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    others = [base for base in re.findall(r"^FROM (\S+)", image, re.MULTILINE) if ":" in base]
    assert set(others) == {"python:${PYTHON_VERSION}-slim${PYTHON_DIGEST}"}
    assert image.index("ARG PYTHON_DIGEST=\n") < image.index("FROM "), "it holds for all stages"
