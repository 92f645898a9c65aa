"""What a gate is, watching a module, the packed record of its gates, and what moves them while it trains."""
