"""The shell, which does the core's I/O: it passes inputs to the core, stores the resulting changes, and then sends messages.

shell             the task: inputs that have arrived -> core -> one commit -> effects
authenticator     check of each client's name and token
house_processes   processes of the server's own engines
missed_results    results that a bot missed while it was disconnected
rating_updater    update of ratings and tables after each match
address_recorder  hashed addresses of players, for `arena audit`
stored_requests     requests from `arena` commands of the server's operator, and from web pages of owners
webhooks          news of events (tournaments), posted to a URL that the server's operator has set
"""
