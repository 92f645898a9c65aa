"""Pages that stand alone in one file: built from small blocks, readable on a phone, at night, and without a
network.

Drawings are SVG in the page itself, so that they follow its colours and a script can reach into them; a
plotting library's own script would weigh many times the page."""
