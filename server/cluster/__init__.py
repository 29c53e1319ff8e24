"""Link between edge and core processes, carried by NATS.

An edge process holds the connections of clients. A core process pairs bots and runs their matches.

**Subjects.** All edges of a shard publish on `arena.<shard>.core`, on which the leading core of the shard listens.
The core publishes to each edge on `arena.<shard>.edge.<number>`.

**Shards.** A shard is an arena of its own: one core with its lease in PostgreSQL, its pool, its house engines, and its
subjects. The setting `server.name` of an edge or a core names its shard. A second shard has another name and its own
processes. Bots choose a shard by the address to which they connect.

**Frames.** A frame is a list of messages, with a sequence number, the fencing token of the core (the number of its
lease), and a stream number. A stream is a run of consecutive frames. An edge begins a stream with `EdgeResynced`, and the
core restarts the numbers of its own frames for each stream. An empty frame is a heartbeat. It shows that the sender is
alive, and how many frames the sender has sent. Frames are neither acknowledged nor sent again.

**Resync.** An edge begins a new stream in four cases:

- The core asks for one, because it missed a frame or does not know the edge.
- The edge missed a frame.
- A frame with a higher fencing token arrives: another core has taken over.
- A core that was silent is back.

A frame with a lower fencing token comes from a core that lost its lease, and is dropped. The modules `edge_link` and
`core_link` describe both sides.
"""
