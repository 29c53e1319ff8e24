"""Server of an arena: edge (connections), core (matches), shell (I/O of the core), store and web pages."""
