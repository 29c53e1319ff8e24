from __future__ import annotations

from tests.protocol.tables import SPECIFICATION, regenerate


def test_the_specification_is_up_to_date() -> None:
    text = SPECIFICATION.read_text(encoding="utf-8")
    assert regenerate(text) == text, "run python -m tests.protocol.tables"
