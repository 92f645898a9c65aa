"""How decoupled networks are trained at once: gates looked up where they are fixed, chains written out."""
