"""A tool that a machine lacks skips the tests that need it, and is told once, with what to do."""

from __future__ import annotations

import pytest

from testkit.tools import TOOL_REQUIREMENTS, ToolRequirement, describe_missing_tools, find_missing_tool_reason

pytest_plugins = ["pytester"]

LACKED = """
import testkit.tools
from testkit.tools import ToolRequirement, mark_requires, skip_without
import pytest

testkit.tools.TOOL_REQUIREMENTS["nginx"] = ToolRequirement("a proxy", "install nginx", lambda: False)
testkit.tools.TOOL_REQUIREMENTS["gcc"] = ToolRequirement("the example in C", "install gcc", lambda: False)
testkit.tools.TOOL_REQUIREMENTS["perl"] = ToolRequirement("the example in Perl", "install perl", lambda: True)

@mark_requires("nginx")
def test_one(): pass

@mark_requires("nginx")
def test_two(): pass

@mark_requires("perl")
def test_three(): pass

@pytest.fixture
def program():
    skip_without("gcc")

def test_four(program): pass

@pytest.mark.skip(reason="another reason")
def test_five(): pass
"""


@pytest.mark.slow
def test_each_missing_tool_is_listed_in_one_line_at_the_end(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        "from tests.conftest import pytest_addoption, pytest_collection_modifyitems, pytest_terminal_summary"
    )
    pytester.makeini("[pytest]\nmarkers = needs\n slow\n smoke")
    pytester.makepyfile(LACKED)
    ran = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    ran.assert_outcomes(passed=1, skipped=4)
    lines = [line for line in ran.outlines if line.startswith("not tested: ")]
    assert lines == [
        "not tested: the example in C (1 test); to have it, install gcc",
        "not tested: a proxy (2 tests); to have it, install nginx",
    ]


@pytest.mark.parametrize("of", TOOL_REQUIREMENTS.items(), ids=TOOL_REQUIREMENTS)
def test_a_missing_tool_is_reported_with_its_reason(
    of: tuple[str, ToolRequirement], monkeypatch: pytest.MonkeyPatch
) -> None:
    tool, known = of
    monkeypatch.setitem(
        TOOL_REQUIREMENTS, tool, ToolRequirement(known.tested_feature, known.install_hint, lambda: True)
    )
    assert find_missing_tool_reason(tool) is None
    monkeypatch.setitem(
        TOOL_REQUIREMENTS, tool, ToolRequirement(known.tested_feature, known.install_hint, lambda: False)
    )
    assert len(list(describe_missing_tools([f"Skipped: {find_missing_tool_reason(tool)}"] * 3))) == 1
