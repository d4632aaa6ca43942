"""The ways a request reaches the fake: patched clients, a loopback server, child processes, respx.

Only requests to Stripe's four hosts are taken. Each client's file leans on private parts of that
library; nothing outside this package does.
"""
