"""The commands of whoever writes bots and looks into searches."""
