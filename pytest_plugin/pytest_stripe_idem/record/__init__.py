"""Who sent what, what became of it, and which requests are one charge under two keys."""
