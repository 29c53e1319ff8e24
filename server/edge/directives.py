"""Directives of the operator to all servers of a store: banned names, banned addresses, and a notice to all clients."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Network, IPv6Network, ip_address

from msgspec import Struct

from arena.protocol.messages import Notice
from arena.server.abuse_counter import make_address_key

EMPTY_NOTICE = Notice("", "")
"""Notice (message of the server's operator to all clients) without text: none is in force, or the last was withdrawn."""


class ActiveDirectives(Struct, frozen=True):
    """Bans (of names and of networks) and the notice to all clients that the server's operator has put in force."""

    banned_names: Mapping[str, str] = {}
    """Reason for the ban of each banned name, by the name."""
    banned_networks: Mapping[IPv4Network | IPv6Network, str] = {}
    """Reason for the ban of each banned network, by the network. IPv6 networks are /64 or larger."""
    notice: Notice = EMPTY_NOTICE

    def find_ban_reason(self, address: str, client_name: str = "") -> str:
        """Return the reason why the name or the address is banned; empty if neither is. An empty name is never banned."""
        if client_name in self.banned_names:
            return self.banned_names[client_name]
        if not self.banned_networks:
            return ""
        try:
            parsed = ip_address(make_address_key(address).partition("/")[0])
        except ValueError:
            return ""
        return next((why for network, why in self.banned_networks.items() if parsed in network), "")
