"""Bots that answer a turn wrongly."""
