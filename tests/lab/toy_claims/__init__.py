"""Claims of the tests' own, written as the real ones are; no paper makes them."""
