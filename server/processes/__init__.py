"""Bots as processes of this machine, that never outlive who started them."""
