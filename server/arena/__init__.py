"""Many servers as one arena: what they tell each other by the bus, and what each makes of it."""
