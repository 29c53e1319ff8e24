"""Events of many matches: their plans, openings, runners and reports."""
