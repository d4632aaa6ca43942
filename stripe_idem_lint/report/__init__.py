"""Findings in the forms people and machines read."""
