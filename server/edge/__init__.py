"""The edge: sockets, TLS, websockets, limits, plain GETs, and topics for spectators.

The edge knows connections but no matches: it turns bytes into inputs of the core, and effects of the core into bytes.
It talks to the core only through `server.ports`, so the core may be in this process or in another.

A move, from its bytes to the core:

    1. Connection.buffer_updated   stamps the time, and takes a token from the share of the address
    2. Session.receive             takes the frames that the library has parsed, and decodes the message
    3. core.submit(MessageReceived)   with the time since the turn was written

and back, from the core's effects to bytes:

    1. Edge.deliver                finds the client of each effect
    2. Session.send                encodes and writes the message, and reports a sent turn: core.submit(TurnSent)

    edge         listeners, clients by number, topics; resync
    connection   one socket: reads in small pieces, the share of its address, requests and websockets, its end
    session      one client: its hello, its limits, the turns that it has to answer
    topics       fan-out to spectators, a few at a time
    fair_queue   queue for all work except players' answers
    page_client  the page's own client
"""
