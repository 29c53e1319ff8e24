"""One match: its terms, events, clock and referee. Pure: time is an argument, and nothing here does I/O."""
