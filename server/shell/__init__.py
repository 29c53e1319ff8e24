"""The shell around the core: one task passes inputs to the core, commits the durable effects, and then releases all
others.

shell          the task: inputs that have arrived -> core -> one commit -> effects
authenticator  check of a client's name and token
house          processes of the server's own engines
missed         results that a disconnected bot has missed
ratings        update of the ratings after each match
requests       requests of the host's commands
webhooks       news of events for an address of the host's choice
"""
