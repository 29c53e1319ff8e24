"""Store of a server: the database with matches, ratings, events and tokens, and all code that reads or writes it.

- Database: `database` opens it, `schema` and `migrations` define its tables, `sqlite` configures SQLite,
  `errors` explains the errors of both kinds of database, and `stats` reports the size of a store.
- One writer: `lease` gives a server's name to one process, and `journal` stores what that process decides.
- Matches: `finished_matches`, `match_search` and `opening_explorer` find them. `packing` and `compaction` compress them,
  `pruning` removes them, and `archive` and `backup` copy them to files.
- Ratings and tables: `aggregates` counts matches, `queries` combines the tables for the web site.
- Events: `events`, which a server plays, and `ladders`, each of which one process of a command plays.
- People: `tokens` and `names` of bots, `owners` and their `invitations`, `directives` such as bans, `address_uses`.
  `accounts` loads what a server needs when a client connects. `personal_data` deletes and renames, and `renaming` does
  so while servers run.
- Requests: `requests` sends them to a running server.
"""
