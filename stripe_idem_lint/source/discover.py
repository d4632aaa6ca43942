"""Which files a run reads: paths in, Python files out, each with the names it can be imported under.

Visits each folder once and prunes it before entering. Reads `.gitignore` files, no source file; what cannot be read is
returned as a problem.
"""
