"""`python -m stripe_idem_lint`."""

from stripe_idem_lint.cli import main

main()
