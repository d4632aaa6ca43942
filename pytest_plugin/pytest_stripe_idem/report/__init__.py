"""What a person reads: the failing text, the summary, JSON, HTML."""
