"""The page of `penstock demo`: one small network, opened. Each file is one part of the tour, computed and
told."""
