"""The edge: the part of the server that holds connections, and limits what clients may use.

The edge knows connections but no matches: it turns bytes into inputs of the core, and effects of the core into bytes.
It talks to the core only through `server.ports`, so the core may be in this process or in another.

A move, from its bytes to the core:

    1. Connection.buffer_updated   stamps the time, takes a token of the client's address, and parses the frame
    2. Session.receive             decodes the message in the frame
    3. core.submit(MessageReceived)   with the time since the turn was written

and back, from the core's effects to bytes:

    1. Edge.deliver                finds the client of each effect
    2. Session.send                encodes and writes the message, and reports a sent turn: core.submit(TurnSent)

    edge            listening sockets, clients by number, and the list of clients for a new core (resync)
    admission       limits on the number of connections
    connection      one socket: TCP or TLS, HTTP requests and websockets
    handshake       reasons to refuse a websocket
    plain_requests  answers to requests that open no websocket
    session         one client: its hello, its limits, and the turns that it has to answer
    topics          messages to spectators, a few spectators at a time
    fair_queue      queue for all work except players' answers to turns
    page_client     internal client through which the server's web page sees live matches
"""
