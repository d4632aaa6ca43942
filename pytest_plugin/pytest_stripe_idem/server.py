"""`stripe-idem-server`: the same fake for services in any language, on 127.0.0.1.

    stripe-idem-server --port 12111

It prints how to point a client at it. `/_idem/` is its control API (`control.py`).
"""

from __future__ import annotations

import argparse
import threading
from collections.abc import Sequence

from pytest_stripe_idem.control import answer_control
from pytest_stripe_idem.core.request import StripeRequest
from pytest_stripe_idem.harness import FakeStripe
from pytest_stripe_idem.options import OptionError, Options, read_assumptions
from pytest_stripe_idem.transports.loopback import CONTROL, Loopback

# A server that runs for days remembers this many requests; objects and keys are kept beyond.
KEPT = 10_000

_HELP = """\
stripe-idem-server listens on {url}

  stripe-python   client = stripe.StripeClient("sk_test_123", base_addresses={{"api": "{url}"}})
                  stripe.api_base = "{url}"     # module calls
  stripe-node     new Stripe("sk_test_123", {{host: "127.0.0.1", port: {port}, protocol: "http"}})
  curl            curl {url}/v1/customers -u sk_test_123: -d name=Jenny -H "Idempotency-Key: k1"

control: {url}{control}exchanges  {control}charges  {control}divergences  {control}faults  \
{control}clock  {control}reset
"""


def main(argv: Sequence[str] | None = None) -> int:
    """The command; returns its exit code when it is interrupted."""
    parser = argparse.ArgumentParser(prog="stripe-idem-server", description=__doc__)
    parser.add_argument(
        "--port", type=int, default=12111, help="0 takes a free one (default 12111)"
    )
    parser.add_argument(
        "--strict", action="store_true", help="report possible second purchases too"
    )
    parser.add_argument(
        "--assume", action="append", default=[], metavar="NAME=VALUE", help="set an assumption"
    )
    given = parser.parse_args(argv)
    try:
        server = start(given.port, strict=given.strict, assumptions=given.assume)
    except (OptionError, OSError) as error:
        parser.error(str(error))
    try:
        # Who reads these lines may interrupt at once: from here on that is a way to end it.
        print(_HELP.format(url=server.url, port=server.port, control=CONTROL), flush=True)
        threading.Event().wait()
    except KeyboardInterrupt:
        return 0
    finally:
        server.stop()
    return 0


def start(port: int = 0, *, strict: bool = False, assumptions: Sequence[str] = ()) -> Loopback:
    """A running server with a fake of its own.

    Raises:
        OptionError: An unknown assumption.
        OSError: The port is taken.
    """
    values = read_assumptions(assumptions, "--assume")
    options = Options().changed({"strict": strict, "assumptions": values}, "stripe-idem-server")
    fake = FakeStripe(options, kept=KEPT)

    def control(request: StripeRequest) -> tuple[int, object]:
        return answer_control(fake, request)

    return Loopback(lambda: fake, control, port).start()


if __name__ == "__main__":
    raise SystemExit(main())
