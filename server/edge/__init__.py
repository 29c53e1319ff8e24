"""The edge: the part of the server that holds connections, and limits the messages and CPU time of clients.

The edge knows connections but no matches: it turns bytes into inputs of the core, and effects of the core into bytes.
It talks to the core only through `server.ports`, so the core may be in this process or in another.

A move, from its bytes to the core:

    1. Connection.buffer_updated   stamps the time, applies the rate limit of the client's address, and parses the frame
    2. Session.receive_frame       decodes the message in the frame
    3. core.submit(MessageReceived)   with the time since the turn was written

and back, from the core's effects to bytes:

    1. Edge.deliver_from_core      finds the client of each effect
    2. Session.send                encodes and writes the message, and reports a sent turn: core.submit(TurnSent)

    edge            listening sockets, clients by number, and the list of clients for a new core (resync)
    admission       limits on the number of connections
    addresses       addresses as text: URLs for bots, error lines for the server's operator, and the addresses of peers
    directives      the operator's banned names, banned addresses, and notice to all clients
    connection      one socket: TCP or TLS, HTTP requests and websockets
    pings           unanswered pings of one connection, and the round-trip times of the answered ones
    request         one HTTP request: a plain request, or the request to open a websocket
    handshake       refusals of HTTP requests: unreadable, from a banned address, or not allowed to open a websocket
    plain_requests  answers to plain requests: HTTP requests that open no websocket
    responses       HTTP responses, and functions that build and encode them
    session         one client: its hello, its limits, and the turns (requests for a move) that it has to answer
    topics          messages to spectators, a few spectators at a time
    fair_queue      queue for all work except players' moves
    work_budget     limit on the CPU time that the server spends for each address
    message_costs   cost of each kind of message, taken from the work budget of its sender's address
    token_bucket    rate limit: a number of tokens per second on average, and a number at once
    page_client     internal client through which the server's web page sees live matches
"""
