"""Networks that the tests share, one file a family. None is Penstock's: they are what a user might bring."""
