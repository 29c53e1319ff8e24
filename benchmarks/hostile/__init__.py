"""Delay of honest bots while strangers send as many requests as the server's limits allow, by kind of request."""
