"""Game server: edge (connections), core (rules of matches, without I/O), shell (I/O of the core), store and web pages."""
