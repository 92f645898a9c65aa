"""The networks that the papers speak about, one file a family, and the laws their weights follow."""
