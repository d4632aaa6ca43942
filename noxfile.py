"""The plugin's tests with other versions of the `stripe` package than the newest.

    nox                      all of them
    nox -s "sdk(stripe='8.*')"

`make test` runs the same tests with the newest one. What came out stands in
docs/plugin/compatibility.md.
"""

from __future__ import annotations

import nox

nox.options.default_venv_backend = "virtualenv"
nox.options.reuse_existing_virtualenvs = True
nox.options.error_on_external_run = True

# Each stands for something: 8 has the first `StripeClient`, 11 the raw requests and retries that
# are on by default, 13 the last services without `v1`'s split types, 15.3.0 the last that draws
# its keys with `uuid`.
VERSIONS = ("8.*", "11.*", "13.*", "15.3.0")


@nox.session
@nox.parametrize("stripe", VERSIONS)
def sdk(session: nox.Session, stripe: str) -> None:
    """The plugin's tests, contract over every transport included, with one version of the SDK."""
    session.install(".", f"stripe=={stripe}", "hypothesis", "pytest-xdist", "--group", "neighbours")
    session.run("python", "-c", "import stripe, sys; print('stripe', stripe.VERSION, sys.version)")
    session.run("pytest", "tests/plugin", "-n", "2", "-q", *session.posargs)
