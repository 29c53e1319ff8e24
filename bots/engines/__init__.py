"""Built-in engines, and engines from files, each selected by a spec such as `alphabeta:depth=4` or `my_bot.py`."""
