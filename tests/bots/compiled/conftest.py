"""Without numba there is nothing to test here; a kernel takes ten seconds of a quiet core to compile."""

from __future__ import annotations

from testkit.parts import skip_without

skip_without("numba")
