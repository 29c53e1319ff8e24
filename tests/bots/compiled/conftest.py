"""Without numba there is nothing to test here; a kernel takes ten seconds of a quiet core to compile."""

from __future__ import annotations

from pathlib import Path

import pytest

from testkit.parts import skip_without

skip_without("numba")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(300))
