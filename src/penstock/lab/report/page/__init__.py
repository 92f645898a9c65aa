"""Pages that stand alone in one file: built from small blocks, readable on a phone, at night, and without a network."""
