"""Delay of honest bots while hostile clients send as many requests as the server's limits allow, by kind of request."""
