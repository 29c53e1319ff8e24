from __future__ import annotations

import pytest

from arena.protocol.codes import Code, EndReason
from tests.protocol.tables import SPECIFICATION, codes_table, reasons_table, regenerate


def test_a_table_has_one_row_a_word() -> None:
    assert len(codes_table().splitlines()) == 2 + len(Code)
    assert len(reasons_table().splitlines()) == 2 + len(EndReason)
    assert f"| `timeout` | {EndReason.TIMEOUT.meaning} |" in reasons_table().splitlines()


def test_an_old_table_is_replaced_and_the_rest_is_left() -> None:
    old = (
        "before\n<!-- codes: x -->\n| old |\n| rows |\n<!-- end of codes -->\nbetween\n"
        "<!-- reasons: y -->\n<!-- end of reasons -->\nafter\n"
    )
    new = regenerate(old)
    assert new == (
        f"before\n<!-- codes: x -->\n{codes_table()}\n<!-- end of codes -->\nbetween\n"
        f"<!-- reasons: y -->\n{reasons_table()}\n<!-- end of reasons -->\nafter\n"
    )
    assert regenerate(new) == new


def test_a_specification_without_the_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="table of codes"):
        regenerate("nothing here")


def test_the_specification_is_up_to_date() -> None:
    text = SPECIFICATION.read_text(encoding="utf-8")
    assert regenerate(text) == text, "run python -m tests.protocol.tables"
