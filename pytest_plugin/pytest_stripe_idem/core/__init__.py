"""The fake Stripe itself: state and time are given, nothing is read from the outside world.

`Machine.step(request, now)` answers one request. No HTTP library, no SDK, no thread, no socket and
no clock is known here; those belong to `transports` and to the harness.
"""
