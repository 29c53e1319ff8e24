"""Time for a bot to answer a challenge before the matchmaker has another match for it. Pure; times in ns.

A bot that answers, answers within a moment. One that does not must not be kept from its matches, be it by
a single challenge or by a rival who challenges it without end.
"""

from __future__ import annotations

from dataclasses import dataclass, field

ANSWER_NS = 2_000_000_000
"""How long a challenged bot is left to answer."""
AGAIN_NS = 20_000_000_000
"""From the beginning of a bot's time to answer to the next, whoever challenges it."""


@dataclass
class AnswerWindow:
    """Which bots are being left time to answer."""

    length: int = ANSWER_NS
    """How long each of them is left."""
    _since: dict[str, int] = field(default_factory=dict)

    def ask(self, name: str, now: int) -> None:
        """Begin the time of a bot that has a challenge before it, and could take one match more."""
        if now >= self._since.get(name, now - AGAIN_NS) + AGAIN_NS:
            self._since[name] = now

    def holds(self, name: str, now: int) -> bool:
        """Whether the bot is being left to answer."""
        since = self._since.get(name)
        return since is not None and now < since + self.length

    def forget(self, name: str) -> None:
        """Forget a bot that has left."""
        self._since.pop(name, None)

    def next_end(self, now: int) -> int | None:
        """When the first of the times ends that have not ended at `now`; None where there is none."""
        return min(
            (since + self.length for since in self._since.values() if now < since + self.length), default=None
        )
