"""The shell around the core: one task passes inputs to the core, commits durable effects, and releases the others.

shell        the task: inputs that have arrived -> core -> one commit -> effects
accounts     names, and the tokens that open them
authenticator   from a client's hello to its `ClientAdmitted`
house        the processes of the server's own engines
"""
