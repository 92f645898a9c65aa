"""A module split into features and values: one network makes the gates, another one's signal passes them."""
