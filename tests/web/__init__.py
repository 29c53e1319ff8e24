"""The page in a real browser, against real servers and real bots."""
