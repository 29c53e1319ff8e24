"""Delay of honest bots while strangers use all that the limits allow, by kind of request."""
