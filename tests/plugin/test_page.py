"""The HTML report in a real browser: it renders, fetches nothing, and keeps hostile text text."""

from __future__ import annotations

import json
import re
import shutil
import struct
import subprocess
import zlib
from pathlib import Path
from typing import Any

import pytest

from plugin.sending import SECRET, encoded
from pytest_stripe_idem.core.exchange import Caller
from pytest_stripe_idem.core.request import StripeRequest
from pytest_stripe_idem.harness import FakeStripe
from pytest_stripe_idem.options import Options
from pytest_stripe_idem.report import page
from pytest_stripe_idem.report.story import story_of
from pytest_stripe_idem.transports.driving import drive

HOSTILE = (
    "<script>document.title='owned'</script>",
    "<img src=http://127.0.0.1:9/x onerror=\"document.title='owned'\">",
    '"><svg onload="document.title=\'owned\'">',
    "&lt;b&gt; {{7*7}} ${7*7} \u202e]]>--><!--",
)

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")


def told(fake: FakeStripe, name: str = "test_billing.py::test_run") -> Any:
    return story_of(fake, name, "failed", Path.cwd())


@pytest.fixture
def hostile() -> str:
    """The page of a test whose metadata, keys and name are hostile."""
    fake = FakeStripe(Options())
    for number, text in enumerate(HOSTILE):
        for key in (f"{text}{number}", None):
            form = {
                "amount": 4900,
                "currency": "usd",
                "source": "tok_visa",
                "metadata": {"order": text},
            }
            headers = {"authorization": f"Bearer {SECRET}"}
            headers |= {} if key is None else {"idempotency-key": key}
            sent = StripeRequest("POST", "/v1/charges", "", headers, encoded(form).encode())
            drive(fake.handle(sent, Caller(client="test")))
    return page.rendered([told(fake, f"test_x.py::test[{HOSTILE[0]}]")])


def test_all_data_is_escaped(hostile: str) -> None:
    for tag in ("<script", "<img", 'onload="', "<b>"):
        assert tag not in hostile
    tags = set(re.findall(r"<(\w+)", hostile.partition("<body>")[2]))
    assert tags <= {
        "h1", "h2", "p", "section", "span", "code", "pre", "div", "br", "svg", "title", "line",
        "circle", "rect", "text", "table", "tr", "td",
    }  # fmt: skip


def test_nothing_can_be_fetched(hostile: str) -> None:
    assert "default-src 'none'" in hostile
    assert not re.search(r"<[^>]*\s(src|href|action|data|poster)\s*=", hostile)
    assert "url(" not in hostile.partition("</style>")[0]


def test_a_charge_has_a_picture_of_its_attempts() -> None:
    fake = FakeStripe(Options())
    fake.faults.lose_response()
    for key in ("a", "a", "b"):
        headers = {"authorization": f"Bearer {SECRET}", "idempotency-key": key}
        body = b"amount=4900&currency=usd&source=tok_visa"
        sent = StripeRequest("POST", "/v1/charges", "", headers, body)
        drive(fake.handle(sent, Caller(client="test")))
    text = page.rendered([told(fake)])
    assert "3 attempts, 2 keys, 2 objects made" in text
    assert text.count("<circle") == 3
    assert text.count('fill="none"') == 1  # the answer that was lost
    assert len(set(re.findall(r'stroke="(#\w+)" stroke-width', text))) == 2


def test_a_run_without_tests_is_a_page_too() -> None:
    assert "<h1>" in page.rendered([])


@pytest.mark.skipif(BROWSER is None, reason="Chromium is not installed")
class TestInChromium:
    def run(self, path: Path, *args: str) -> subprocess.CompletedProcess[str]:
        assert BROWSER is not None
        profile = path.parent / "profile"
        log = path.parent / "net.json"
        return subprocess.run(
            [
                BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--disable-background-networking", "--disable-component-update",
                "--no-first-run", f"--user-data-dir={profile}", f"--log-net-log={log}",
                *args, path.as_uri(),
            ],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    def test_hostile_text_stays_text(self, hostile: str, tmp_path: Path) -> None:
        path = tmp_path / "report.html"
        path.write_text(hostile, encoding="utf-8")
        done = self.run(path, "--dump-dom")
        assert done.returncode == 0, done.stderr[-500:]
        assert "<title>Fake Stripe: charges and keys</title>" in done.stdout
        assert "<script" not in done.stdout
        assert done.stdout.count("<circle") == 2 * len(HOSTILE)
        asked = json.dumps(json.loads((tmp_path / "net.json").read_text())["events"])
        assert "127.0.0.1:9" not in asked

    def test_something_is_drawn(self, hostile: str, tmp_path: Path) -> None:
        path = tmp_path / "report.html"
        path.write_text(hostile, encoding="utf-8")
        picture = tmp_path / "report.png"
        self.run(path, f"--screenshot={picture}", "--window-size=1000,800")
        assert len(colours(picture.read_bytes())) > 20


def colours(png: bytes) -> set[bytes]:
    """The distinct pixels of the first filter-decoded bytes: enough to tell a page from a blank."""
    width = struct.unpack(">I", png[16:20])[0]
    data, place = b"", 8
    while place < len(png):
        size, kind = struct.unpack(">I4s", png[place : place + 8])
        data += png[place + 8 : place + 8 + size] if kind == b"IDAT" else b""
        place += 12 + size
    rows = zlib.decompress(data)
    assert width == 1000
    return {rows[at : at + 4] for at in range(0, len(rows), 4)}
