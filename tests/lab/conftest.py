"""The tests of this folder are skipped without numba. Compiling a kernel takes ten seconds on a free core."""

from __future__ import annotations

from testkit.tools import skip_without

skip_without("numba")
