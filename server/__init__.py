"""Server of an arena: edge (connections), core (matches), shell, store and web pages. Bots reach it only over the network."""
