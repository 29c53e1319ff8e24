"""Which games have compiled searches is known without loading these searches."""

from __future__ import annotations

import subprocess
import sys

import pytest

from arena.bots.compiled.availability import ENGINE_EXTRA_PACKAGES, has_engine_extra


def test_it_is_known_without_loading_numba() -> None:
    program = f"import sys; from arena.bots.compiled.availability import has_engine_extra; has_engine_extra(); print({set(ENGINE_EXTRA_PACKAGES)!r} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "set()\n"
    assert has_engine_extra()


@pytest.mark.parametrize("missing", ENGINE_EXTRA_PACKAGES)
def test_the_extra_is_not_installed_without_one_of_its_packages(missing: str) -> None:
    program = f"import sys; sys.modules[{missing!r}] = None; from arena.bots.compiled.availability import has_engine_extra; print(has_engine_extra())"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "False\n"
