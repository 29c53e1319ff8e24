"""Store of a server: the database with matches, ratings, events and tokens, and all code that reads or writes it.

- Database: `database` opens it, `schema` and `migrations` define its tables, `sqlite` configures SQLite,
  `errors` turns errors of SQLite and PostgreSQL into one-line reasons, and `stats` reports the size of a store.
- One writer: `lease` lets only one process at a time run the server of a name, and `journal` stores the moves and results
  of this server's matches.
- Matches: `finished_matches`, `match_search` and `opening_explorer` find them. `packing` and `match_packing` compress them,
  `pruning` removes them, and `archive` and `backup` copy them to files.
- Ratings and tables: `aggregates` keeps them up to date, and `queries` combines them for the web site.
- Events: `events` are tournaments that a server plays, and `ladders` are competitions that one command plays.
- People: `tokens` and `names` of bots, `owners` and their `invitations`, `directives` such as bans, and `address_uses`
  (days on which a bot played from an IP address).
  `accounts` loads the token, session and ratings of a client that connects. `personal_data` deletes and renames bots, and
  `renaming` does so while servers run.
- Requests: `stored_requests` sends requests of the host (the person who runs a server) to the running server.
"""
