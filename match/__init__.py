"""One match: its terms, clocks, referee, and the events that the referee handles. Pure: no I/O, and callers pass the time."""
