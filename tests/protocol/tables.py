"""Generator of tables in PROTOCOL.md from `protocol.codes`: run `python -m tests.protocol.tables`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from arena.protocol.codes import EndReason, ErrorCode

SPECIFICATION = Path(__file__).parents[2] / "protocol" / "PROTOCOL.md"


def codes_table() -> str:
    """Return every error code with its meaning, as a Markdown table."""
    return _table("code", [(code.value, code.meaning) for code in ErrorCode])


def reasons_table() -> str:
    """Return every end reason with its meaning, as a Markdown table."""
    return _table("reason", [(reason.value, reason.meaning) for reason in EndReason])


def regenerate(text: str) -> str:
    """Return `text` with its generated parts updated. Raises ValueError if the marks of a part are missing."""
    for name, table in (("codes", codes_table()), ("reasons", reasons_table())):
        match = re.search(rf"<!-- {name}:[^\n]*-->\n(.*?)<!-- end of {name} -->", text, re.DOTALL)
        if match is None:
            raise ValueError(f"the marks around the table of {name} are missing")
        text = f"{text[: match.start(1)]}{table}\n{text[match.end(1) :]}"
    return text


def _table(head: str, rows: list[tuple[str, str]]) -> str:
    lines = [
        f"| {head} | meaning |",
        "| --- | --- |",
        *(f"| `{word}` | {meaning} |" for word, meaning in rows),
    ]
    return "\n".join(lines)


def main() -> None:
    """Write the tables into PROTOCOL.md."""
    SPECIFICATION.write_text(regenerate(SPECIFICATION.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(f"wrote the tables of {SPECIFICATION.name}\n")


if __name__ == "__main__":
    main()
