"""What must be true of the built-in model files taken together."""

from __future__ import annotations

import ast
import inspect
import re
from collections import defaultdict
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import stripe

from models.shipped import names, rows, shipped
from stripe_idem_lint.models.schema import ContextModel, Form, LockModel, ValueModel

STRIPE = Path(stripe.__file__).parent


def test_every_file_is_read_and_says_where_its_facts_come_from() -> None:
    files = shipped().files
    assert len(files) > 100
    for file in files:
        assert re.fullmatch(
            r"stripe_idem_rules/models/(frameworks|sinks|values)/\w+\.toml", file.path
        )
        assert file.library.docs.startswith("https://"), file.path


def test_every_context_says_when_the_code_runs_again() -> None:
    """The clause stands after "the code runs again when", so it is no sentence of its own."""
    for file in shipped().files:
        for row in file.context:
            assert row.again, (file.path, row)
            assert not row.again.endswith("."), (file.path, row.again)


def test_no_file_has_the_same_name_twice_in_one_list() -> None:
    for file in shipped().files:
        for table, row in rows(file):
            given = [*names(row, Form.SUBJECT), *names(row, Form.DOTTED)]
            assert len(given) == len(set(given)), (file.path, table, given)


def test_no_name_has_two_meanings() -> None:
    """Two rows about one name in one table differ in an option, a literal or the function meant."""
    meanings: dict[tuple[object, ...], set[object]] = defaultdict(set)
    for file in shipped().files:
        for table, row in rows(file):
            if table in ("class", "returns", "alias", "service") or _conditional(row):
                continue
            for key, name in names(row, Form.SUBJECT):
                function = getattr(row, "callable", ())
                place = (table, key, shipped().canonical(name), function)
                meanings[place].add(_meaning(row))
    assert {place: found for place, found in meanings.items() if len(found) > 1} == {}


def _conditional(row: Any) -> bool:
    match row:
        case ContextModel():
            return bool(row.on_by or row.method_base)
        case ValueModel():
            return bool(row.when or row.off_by)
        case LockModel():
            return bool(row.on_by)
        case _:
            return False


def _meaning(row: Any) -> object:
    for key in ("category", "kind", "effect"):
        if hasattr(row, key):
            return getattr(row, key), getattr(row, "scope", "")
    return type(row)


def test_no_alias_is_also_a_main_name() -> None:
    """Otherwise the rows about the main name would be lost."""
    for file in shipped().files:
        for alias in file.alias:
            assert shipped().canonical(alias.name) == alias.name, (file.path, alias.name)


@pytest.mark.parametrize(
    ("name", "effect"),
    [
        ("stripe.Charge.create", "money"),
        ("stripe.Payout.create_async", "money"),
        ("stripe.InvoiceItem.create", "money"),
        ("stripe.SubscriptionItem.create_usage_record", "money"),
        ("stripe.StripeClient.v1.transfers.create", "money"),
        ("stripe.StripeClient.transfers.create_async", "money"),
        ("stripe.StripeClient.v2.money_management.outbound_payments.create", "money"),
        ("stripe.PaymentIntent.create", "payable"),
        ("stripe.checkout.Session.create", "payable"),
        ("stripe.StripeClient.v1.checkout.sessions.create", "payable"),
        ("stripe.Refund.create", "guarded"),
        ("stripe.Transfer.reversals.create", "guarded"),
        ("stripe.PaymentIntent.capture", "guarded"),
        ("stripe.Invoice.pay", "guarded"),
        ("stripe.Subscription.modify", "other"),
        ("stripe.Customer.create", "other"),
        ("stripe.issuing.Authorization.TestHelpers.capture", "other"),
    ],
)
def test_writes_have_their_effect(name: str, effect: str) -> None:
    sink = shipped().sink(name)
    assert sink is not None
    assert sink.effect == effect
    assert sink.style == ("service" if "StripeClient" in name else "resource")


@pytest.mark.parametrize(
    ("name", "test"),
    [
        ("stripe.PaymentIntent.create", "confirm=True"),
        ("stripe.Refund.create", "amount="),
        ("stripe.Transfer.create_reversal", "amount="),
        ("stripe.Charge.refund", "amount="),
        ("stripe.PaymentIntent.capture", "final_capture=False"),
    ],
)
def test_parameters_can_make_a_call_move_money(name: str, test: str) -> None:
    sink = shipped().sink(name)
    assert sink is not None
    assert sink.money_if == (test,)


def test_reads_are_no_sinks() -> None:
    for name in (
        "stripe.Charge.retrieve",
        "stripe.Charge.list",
        "stripe.StripeClient.v1.charges.list",
    ):
        assert shipped().sink(name) is None


def test_every_post_of_the_installed_sdk_is_a_sink() -> None:
    """Resource classes and services alike; what only a path can reach is found by its path."""
    missing = [
        f"{name} {path}"
        for name, path in sorted(_posts())
        if shipped().sink(name) is None or shipped().sink_path(path) is None
    ]
    assert missing == []


def _posts() -> set[tuple[str, str]]:
    """Dotted name and path of every method of a resource class that sends a POST."""
    found = set()
    for module in sorted(STRIPE.rglob("_*.py")):
        source = module.read_text(encoding="utf-8")
        if '"post"' not in source or module.name.endswith("_service.py"):
            continue
        package = ".".join(("stripe", *module.parent.relative_to(STRIPE).parts))
        for cls in ast.parse(source).body:
            if isinstance(cls, ast.ClassDef) and hasattr(import_module(package), cls.name):
                found |= {(f"{package}.{cls.name}.{m}", path) for m, path in _posting_methods(cls)}
    assert len(found) > 200
    return found


def _posting_methods(cls: ast.ClassDef) -> set[tuple[str, str]]:
    found = set()
    for method in cls.body:
        if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) and method.name[0] != "_":
            texts = [
                node.value
                for node in ast.walk(method)
                if isinstance(node, ast.Constant) and isinstance(node.value, str)
            ]
            paths = [text for text in texts if text.startswith(("/v1/", "/v2/"))]
            if "post" in texts and paths:
                found.add((method.name, re.sub(r"\{[^}]*\}", "{}", paths[0])))
    return found


def test_exceptions_of_the_installed_sdk_are_known_with_their_bases() -> None:
    """Both ways of importing them name the same class."""
    for name, cls in inspect.getmembers(stripe, inspect.isclass):
        if issubclass(cls, stripe.StripeError) and not name.startswith("_"):
            for spelled in (f"stripe.{name}", f"stripe.error.{name}"):
                assert shipped().is_subclass(spelled, "stripe.StripeError"), spelled
                assert shipped().is_subclass(spelled, "Exception"), spelled
                assert not shipped().is_subclass(spelled, "OSError"), spelled
