"""What CI forgives, tried on small suites of tests by pytest itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

BESIDE = "\nimport os\nfrom pathlib import Path\nFIRST = not Path('again').exists()\nPath('again').touch()\n"
"""`FIRST` is true in the first run of pytest in a folder alone."""


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    # The suites need none of the plugins, which take longer to load than the tests to run.
    more = {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment = {**os.environ, **more}
    return subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def tried_again(
    folder: Path, source: str, *options: str, settings: str = ""
) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """What became of this file of tests when it was run, then what failed in it alone; and what was forgiven."""
    (folder / "pytest.ini").write_text(f"[pytest]\n{settings}")
    (folder / "test_it.py").write_text(source)
    first = run(folder, "pytest", *options)
    second = run(folder, "tests.alone", str(first.returncode), "forgiven", *options)
    names = folder / "forgiven"
    return second, names.read_text().splitlines() if names.exists() else []


def test_what_is_left_out_by_default_is_tried_with_the_options_of_the_run(tmp_path: Path) -> None:
    source = BESIDE + "import pytest\n@pytest.mark.long\ndef test_late(): assert not FIRST\n"
    settings = "addopts = -m 'not long'\nmarkers = long\n"
    told, forgiven = tried_again(tmp_path, source, "-m", "long", settings=settings)
    assert told.returncode == 0, told
    assert forgiven == ["test_it.py::test_late"]


def test_what_fails_alone_too_is_a_failure(tmp_path: Path) -> None:
    source = (
        BESIDE + "def test_good(): pass\ndef test_late(): assert not FIRST\ndef test_bad(): assert False\n"
    )
    told, forgiven = tried_again(tmp_path, source)
    assert "== failed beside other tests: test_it.py::test_late\n" in told.stdout
    assert "test_good" not in told.stdout
    assert told.returncode == 1
    assert told.stderr == "== failed again alone: test_it.py::test_bad\n"
    assert forgiven == ["test_it.py::test_late"]


def test_a_test_that_passes_only_beside_another_is_a_failure_alone(tmp_path: Path) -> None:
    source = BESIDE + "made = []\ndef test_a(): made.append(1)\ndef test_b(): assert made and not FIRST\n"
    told, forgiven = tried_again(tmp_path, source)
    assert (told.returncode, forgiven) == (1, [])


@pytest.mark.parametrize(("failing", "code"), [(2, 0), (3, 1)])
def test_at_most_two_are_forgiven(tmp_path: Path, failing: int, code: int) -> None:
    source = BESIDE + "".join(f"def test_{n}(): assert not FIRST\n" for n in range(failing))
    told, forgiven = tried_again(tmp_path, source)
    assert told.returncode == code
    assert len(forgiven) == (0 if code else failing)
    if code:
        assert told.stderr == "== 3 tests failed beside others, and at most 2 are forgiven\n"


@pytest.mark.parametrize(
    ("source", "status"),
    [
        ("import nothing_of_the_kind\n", 2),
        ("def helper(): pass\n", 5),
        ("import os\ndef test_it(): os._exit(3)\n", 3),
    ],
    ids=["collection failed", "no tests", "the runner died"],
)
def test_a_run_that_was_not_of_all_tests_is_not_forgiven(tmp_path: Path, source: str, status: int) -> None:
    told, forgiven = tried_again(tmp_path, source)
    assert (told.returncode, forgiven) == (1, [])
    assert told.stderr == f"== pytest ended with {status}: not all tests were run\n"


def test_a_failure_without_a_name_is_not_forgiven(tmp_path: Path) -> None:
    told = run(tmp_path, "tests.alone", "1", "forgiven")
    assert told.returncode == 1
    assert "names no test that failed" in told.stderr
