"""The shell around the core: one task passes inputs to the core, commits the durable effects, and only then releases
messages and other effects.

shell             the task: inputs that have arrived -> core -> one commit -> effects
authenticator     check of each client's name and token
house_processes   processes of the server's own engines
missed_results    results that a bot missed while it was disconnected
rating_updater    update of ratings and tables after each match
address_recorder  hashed addresses of players, for `arena audit`
host_requests     requests from `arena` commands and from owners' web pages
webhooks          news of events, posted to a URL of the host's choice
"""
