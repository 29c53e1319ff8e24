"""The compiled kernels are kept for the whole run, as a user's are; without numba there is nothing to test."""

from __future__ import annotations

import pytest

pytest.importorskip("numba", reason="the compiled engine needs the extra `engine`")
