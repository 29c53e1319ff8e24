"""Adjudication rules: settings of a server, ladder or local match for ending a match early. Records contain these rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

NO_ADJUDICATION = "none"
"""Value that turns off one rule (`repetition=none`), or, alone, all rules."""

TABLEBASE_RULE = "table"
"""Name of the rule that ends a match by the solved table of the match's map, which has the exact value of each position."""

REPETITION_DETAIL_PREFIX = "repetition"
"""First word of `result.detail` after a draw by repetition. A colon follows the word."""


class BadAdjudication(ValueError):
    """Raised when text or data is not a valid adjudication. The message names the wrong part and a valid form."""


class Adjudication(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Rules for ending a match early. A rule that is None is off.

    The rules `win` and `draw` use the values of positions that bots send with their moves: from Maxie's point of view,
    in each bot's own unit.
    """

    win: Annotated[float, Meta(gt=0, le=1e12)] | None = None
    """Maxie wins if the last `moves` values of both bots are all at least `win`.

    Minnie wins if these values are all at most -`win`. None to switch this rule off.
    """
    draw: Annotated[float, Meta(ge=0, le=1e12)] | None = None
    """The match is drawn if the last `moves` values of both bots are all between -`draw` and `draw`. None to switch this rule
    off.
    """
    moves: Annotated[int, Meta(ge=1, le=1000)] = 3
    """Number of latest moves of each bot whose values must all meet the condition of `win` or `draw`."""
    after: Annotated[int, Meta(ge=0, le=1_000_000)] = 0
    """Number of plies before which the rule `draw` does not apply."""
    limit: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    """Number of plies after which the match is a draw. None to switch this rule off."""
    repetition: Annotated[int, Meta(ge=2, le=1000)] | None = None
    """The match is a draw when the same position with the same player to move occurs this many times. None to switch this
    rule off.
    """
    table: bool = False
    """True to end the match as soon as a player can force a win, on a map with a solved table (values of all its positions).

    A match in a drawn position continues.
    """

    @classmethod
    def parse(cls, text: str) -> Adjudication | None:
        """Parse adjudication rules such as `win=500,draw=20,moves=3,after=40,limit=200,repetition=3,table`.

        `table` is a flag: write `table`, or `table=none` to turn it off. An omitted rule is as in DEFAULT_ADJUDICATION, and a
        rule set to `none` is off. Return None if `text` is just `none`, or if all rules are off.

        Raises BadAdjudication for an unknown or repeated rule, or an invalid value.
        """
        if text.strip() == NO_ADJUDICATION:
            return None
        values_by_rule: dict[str, object] = {}
        for part in text.split(","):
            rule, equals, value = (word.strip() for word in part.partition("="))
            if rule == TABLEBASE_RULE and not equals and rule not in values_by_rule:
                values_by_rule[rule] = True
                continue
            if not equals or rule in values_by_rule:
                why = "give each rule once" if rule in values_by_rule else "write RULE=VALUE"
                raise BadAdjudication(
                    f"{part!r:.40}: {why}; for example win=500,moves=3,limit=200,repetition=3, or {NO_ADJUDICATION} for no rules"
                )
            values_by_rule[rule] = value
        return cls.from_rule_values(values_by_rule, rejects_numbers_as_text=False)

    @classmethod
    def from_rule_values(
        cls, values_by_rule: Mapping[str, object], *, rejects_numbers_as_text: bool = True
    ) -> Adjudication | None:
        """Return the adjudication with the rules in `values_by_rule`; None if all rules are off.

        Names, defaults and `none` are as in `parse`.

        rejects_numbers_as_text  False to accept a text such as `"500"` as the number 500

        Raises BadAdjudication for an unknown rule or an invalid value.
        """
        unknown_rules = [rule for rule in values_by_rule if rule not in cls.__struct_fields__]
        if unknown_rules:
            raise BadAdjudication(
                f"unknown rule {unknown_rules[0]!r:.40}; the rules are {', '.join(cls.__struct_fields__)}"
            )
        adjudication = DEFAULT_ADJUDICATION
        for rule, value in values_by_rule.items():
            if value == NO_ADJUDICATION and rule in _RULES_THAT_END_MATCHES:
                off_value = False if rule == TABLEBASE_RULE else None
                adjudication = msgspec.structs.replace(adjudication, **{rule: off_value})
                continue
            try:
                changed_values = {**msgspec.to_builtins(adjudication), rule: value}
                adjudication = msgspec.convert(changed_values, cls, strict=rejects_numbers_as_text)
            except msgspec.ValidationError as error:
                # Remove the path `$.win`, since the message already begins with the rule, and the type of the value.
                expected = str(error).partition(" - at")[0].partition(", got")[0].replace(" | null", "")
                raise BadAdjudication(f"{rule}: {expected}, not {value!r:.40}") from None
        if adjudication.draw is None and (
            "after" in values_by_rule or ("moves" in values_by_rule and adjudication.win is None)
        ):
            rule, required_rule = ("after", "draw") if "after" in values_by_rule else ("moves", "win or draw")
            raise BadAdjudication(
                f"{rule}: has an effect only with {required_rule}; add {required_rule}, or leave {rule} out"
            )
        rule_values = [getattr(adjudication, rule) for rule in _RULES_THAT_END_MATCHES]
        are_all_off = all(value is None or value is False for value in rule_values)
        return None if are_all_off else adjudication

    def __str__(self) -> str:
        # The shortest form that parses to the same value: 500.0 becomes 500, and only the default rule is named if it is off.
        rule_values = msgspec.to_builtins(self)
        if self.repetition is None:
            rule_values["repetition"] = NO_ADJUDICATION
        return ",".join(
            key if value is True else f"{key}={str(value).removesuffix('.0')}"
            for key, value in rule_values.items()
        )


_RULES_THAT_END_MATCHES = ("win", "draw", "limit", "repetition", TABLEBASE_RULE)
"""Rules of an Adjudication that end a match when they apply. Its other fields are settings of these rules."""

DEFAULT_ADJUDICATION = Adjudication(repetition=3)
"""Default adjudication of ladders, `arena match` and servers: a draw when a position occurs for the third time."""
