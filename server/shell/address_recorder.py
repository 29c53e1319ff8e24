"""Recorder of hashed addresses of bots, in which `arena audit` finds owners whose bots play from the same address."""

from __future__ import annotations

import hmac
import secrets
from functools import partial
from typing import TYPE_CHECKING

from arena.server.abuse_counter import make_address_key
from arena.server.core.effects import SaveFinishedMatch
from arena.server.store import database
from arena.server.store.address_uses import AddressUse, store_address_uses
from arena.server.store.database import Engine

if TYPE_CHECKING:
    from arena.server.shell.shell import Shell


class AddressRecorder:
    """Recorder of the hashed addresses of bots that finish matches: one `AddressUse` for each bot, address and day.

    Only bots whose owner is stored are recorded, because the addresses of different owners are compared.
    """

    def __init__(self, db_engine: Engine, shell: Shell) -> None:
        self._db_engine = db_engine
        self._shell = shell
        self._current_day, self._hash_key = "", b""
        """Current day (UTC), as YYYY-MM-DD, and the random key with which its addresses are hashed."""
        self._unstored_uses: set[AddressUse] = set()
        """Combinations of bot, hashed address and day that must still be stored."""
        self._stored_uses: set[AddressUse] = set()
        """Combinations of bot and hashed address on the current day that are stored already."""
        shell.add_effect_handler(SaveFinishedMatch, self._record_player_addresses)

    def _record_player_addresses(self, closed_match: SaveFinishedMatch) -> None:
        day = database.format_current_time()[:10]
        if day != self._current_day:
            self._current_day, self._hash_key = day, secrets.token_bytes(32)
            self._stored_uses.clear()
        for name in (closed_match.record.players.maxie, closed_match.record.players.minnie):
            bot = self._shell.core.find_bot(name)
            if bot is not None and bot.client_number is not None and not bot.is_owner_an_address:
                address = make_address_key(bot.address).encode()
                use = AddressUse(name, day, hmac.digest(self._hash_key, address, "sha256").hex())
                if use not in self._stored_uses:
                    self._unstored_uses.add(use)

    async def store_new_address_uses(self) -> None:
        """Store the combinations of a bot and a hashed address that were recorded since the last call.

        Raises any database error. The combinations then stay in memory until the next call.
        """
        uses = frozenset(self._unstored_uses)
        if uses:
            await database.run_in_transaction(self._db_engine, partial(store_address_uses, address_uses=uses))
            self._unstored_uses -= uses
            self._stored_uses |= uses
