"""When a match is ended before its game ends, as plain data: what a host may set, and a record tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

NONE = "none"
"""What is written for no adjudication, and for a part of it that is off."""

TABLE = "table"
"""The part that ends a match by the table of a solved map."""

REPETITION = "repetition"
"""With this word, and a colon, begins the detail of a match that was drawn because a position came up again and again."""

MOST_NODES = 2_000
"""The most nodes of a solution, which take about 25 ms: a position is solved between two moves, and meanwhile the server does nothing else."""


class BadAdjudication(ValueError):
    """Text or data that is no adjudication: says which part is wrong and what would be right."""


class Adjudication(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """When a match is ended early. Each part is off where it is None. Values are Maxie's, in the unit of the bots."""

    win: Annotated[float, Meta(gt=0, le=1e12)] | None = None
    """The match is won when both bots say so: all their last values are at least this for Maxie, or at most its negative."""
    draw: Annotated[float, Meta(ge=0, le=1e12)] | None = None
    """The match is drawn when both bots say so: all their last values are within this of 0."""
    moves: Annotated[int, Meta(ge=1, le=1000)] = 3
    """For how many of its last moves each bot's value must agree."""
    after: Annotated[int, Meta(ge=0, le=1_000_000)] = 0
    """No draw is agreed before so many plies were played."""
    limit: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    """The match is a draw when so many plies were played."""
    solve: Annotated[int, Meta(ge=1, le=MOST_NODES)] | None = None
    """After each move the position is searched to its end by the rules, as far as so many nodes reach."""
    repetition: Annotated[int, Meta(ge=2, le=1000)] | None = None
    """The match is a draw when a position, with the same player to move, comes up for so many times."""
    table: bool = False
    """On a solved map the match ends when one player can force a win; a draw, which nobody forces, is played on."""

    @classmethod
    def parse(cls, text: str) -> Adjudication | None:
        """The adjudication that text such as `win=500,draw=20,moves=3,after=40,limit=200,solve=1000,repetition=3,table` writes.

        `table` has no number: it is written alone, or as `table=none`. A part that is not named is as in DEFAULT_RULES; one that is `none` is off. The word `none` alone, or all parts off, is
        None. Raises BadAdjudication.
        """
        if text.strip() == NONE:
            return None
        parts: dict[str, object] = {}
        for part in text.split(","):
            key, equals, number = (word.strip() for word in part.partition("="))
            if key == TABLE and not equals and key not in parts:
                parts[key] = True
                continue
            if not equals or key in parts:
                raise BadAdjudication(
                    f"{part!r:.40}: write each part once, as in win=500,moves=3,limit=200,repetition=3, or just {NONE}"
                )
            parts[key] = number
        return cls.convert(parts, strict=False)

    @classmethod
    def convert(cls, parts: Mapping[str, object], *, strict: bool = True) -> Adjudication | None:
        """The adjudication that a table of parts describes, as `parse` reads it from text.

        `strict`: numbers are not written as text. Raises BadAdjudication.
        """
        unknown = [key for key in parts if key not in cls.__struct_fields__]
        if unknown:
            raise BadAdjudication(
                f"there is no {unknown[0]!r:.40}; the parts are {', '.join(cls.__struct_fields__)}"
            )
        made = DEFAULT_RULES
        for key, value in parts.items():
            if value == NONE and key in _SWITCHES:
                made = msgspec.structs.replace(made, **{key: False if key == TABLE else None})
                continue
            try:
                made = msgspec.convert({**msgspec.to_builtins(made), key: value}, cls, strict=strict)
            except msgspec.ValidationError as error:
                # The path says `$.win`; the key is in front of the message already.
                raise BadAdjudication(
                    f"{key}: {str(error).partition(' - at')[0]}, not {value!r:.40}"
                ) from None
        if made.draw is None and ("after" in parts or ("moves" in parts and made.win is None)):
            key, beside = ("after", "draw") if "after" in parts else ("moves", "win or draw")
            raise BadAdjudication(
                f"{key}: it says something only beside {beside}: give that too, or leave it out"
            )
        return (
            made
            if any(getattr(made, key) is not None and getattr(made, key) is not False for key in _SWITCHES)
            else None
        )

    def __str__(self) -> str:
        # As short as can be read back: 500.0 is 500.
        parts = msgspec.to_builtins(self).items()
        return ",".join(
            key if value is True else f"{key}={str(value).removesuffix('.0')}" for key, value in parts
        )


_SWITCHES = ("win", "draw", "limit", "solve", "repetition", TABLE)
"""The parts that end matches, each by itself."""

DEFAULT_RULES = Adjudication(repetition=3)
"""By what a ladder, a match and a server adjudicate unless they are told otherwise."""
