"""Bots with one fault each, as programs: `arena check` must catch each of them, and say why."""
