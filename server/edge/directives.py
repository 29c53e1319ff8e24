"""Directives of the host to all servers: banned names, banned addresses, and a notice to all clients."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Network, IPv6Network, ip_address

from msgspec import Struct

from arena.protocol.messages import Notice
from arena.server.failed_logins import address_key

NO_NOTICE = Notice("", "")


class Directives(Struct, frozen=True):
    """Bans, and the notice, that are in force now."""

    names: Mapping[str, str] = {}
    """Reason for each banned name."""
    networks: Mapping[IPv4Network | IPv6Network, str] = {}
    """Reason for each banned network. IPv6 networks are /64 or larger."""
    notice: Notice = NO_NOTICE

    def ban_reason(self, address: str, name: str = "") -> str:
        """Return the reason that an address or a name is banned; empty if neither is."""
        if name in self.names:
            return self.names[name]
        if not self.networks:
            return ""
        try:
            parsed = ip_address(address_key(address).partition("/")[0])
        except ValueError:
            return ""
        return next((why for network, why in self.networks.items() if parsed in network), "")
