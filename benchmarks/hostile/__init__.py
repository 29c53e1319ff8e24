"""Delay of honest bots, which follow the rules, while hostile clients send as many requests as the server's limits allow."""
