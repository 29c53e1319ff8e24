"""The edge: sockets, TLS, websockets, limits, plain GETs, and topics for spectators.

The edge knows connections but no matches: it turns bytes into inputs of the core, and effects of the core into bytes.
It talks to the core only through `server.ports`, so the core may be in this process or in another.

A move, from its bytes to the core:

    1. Connection.buffer_updated   stamps the time, takes a token of the client's address, and parses the frame
    2. Session.receive             decodes the message in the frame
    3. core.submit(MessageReceived)   with the time since the turn was written

and back, from the core's effects to bytes:

    1. Edge.deliver                finds the client of each effect
    2. Session.send                encodes and writes the message, and reports a sent turn: core.submit(TurnSent)

    edge         listeners, clients by number, topics; the list of clients for a new core (resync)
    connection   one socket: reading in small chunks, the limit of its address, requests and websockets, its end
    session      one client: its hello, its limits, the turns that it has to answer
    topics       fan-out to spectators, a few at a time
    fair_queue   queue for all work except players' answers
    page_client  internal client through which the server's web page sees live matches
"""
