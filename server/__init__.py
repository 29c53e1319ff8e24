"""Game server: edge (connections of clients), core (pure logic of matches), shell (I/O of the core), store and web pages."""
