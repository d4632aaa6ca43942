"""Joins the modules of a program: names, imports, classes, callers. Knows Python only."""
