"""Tables of solved maps, probed."""
