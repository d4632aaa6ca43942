"""The names in the model files exist in the libraries, as far as these are installed.

What cannot be looked up without an instance is not: attributes that a constructor sets, collections
of a resource, types that a library makes at run time and that the models name for themselves.
"""

from __future__ import annotations

import builtins
import warnings
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from inspect import isclass
from typing import Any

import pytest

from models.shipped import names, rows, shipped
from stripe_idem_lint.models.schema import ContextModel, Form, ModelFile, Returns

# Gone from the current release, and still in programs.
GONE = frozenset(
    {
        "crypt.mksalt",
        "dbos.DBOS.scheduled",
        "dbos.DBOS.transaction",
        "django.conf.urls.url",
        "djstripe.settings.get_idempotency_key",
        "djstripe.webhooks.handler",
        "djstripe.webhooks.handler_all",
        "flask.Blueprint.before_app_first_request",
        "flask.Flask.before_first_request",
        "mcp.server.lowlevel.server.Server.call_tool",
        "neo4j.Session.read_transaction",
        "neo4j.Session.write_transaction",
        "rest_framework.decorators.detail_route",
        "rest_framework.decorators.list_route",
        "rq.job.Job.get_id",
        "starlette.applications.Starlette.add_event_handler",
        "starlette.applications.Starlette.on_event",
        "starlette.applications.Starlette.route",
        "starlette.applications.Starlette.websocket_route",
        "starlette.routing.Router.add_event_handler",
        "starlette.routing.Router.on_event",
        "starlette.routing.Router.route",
        "stripe.Charge.refund",
        "stripe.Customer.add_invoice_item",
        "stripe.Customer.modify_subscription",
        "stripe.Customer.update_subscription",
        "stripe.Order.create",
        "stripe.Order.pay",
        "stripe.StripeClient.parse_thin_event",
        "stripe.SubscriptionItem.create_usage_record",
        "stripe.SubscriptionItem.create_usage_record_async",
        "stripe.UsageRecord.create",
        "tenacity.BaseRetrying.call",
    }
)
# Only in some releases, on some platforms, or with another distribution of the same import name.
ELSEWHERE = frozenset(
    {
        "apscheduler.AsyncScheduler.add_job",
        "apscheduler.AsyncScheduler.add_schedule",
        "apscheduler.AsyncScheduler.configure_task",
        "apscheduler.AsyncScheduler.run_job",
        "apscheduler.Scheduler.add_job",
        "apscheduler.Scheduler.add_schedule",
        "apscheduler.Scheduler.run_job",
        "apscheduler.schedulers.gevent.GeventScheduler",
        "apscheduler.schedulers.qt.QtScheduler",
        "apscheduler.schedulers.twisted.TwistedScheduler",
        "apscheduler.task",
        "concurrent.futures.InterpreterPoolExecutor",
        "confluent_kafka.Message.delivery_count",
        "confluent_kafka.ShareConsumer",
        "django.contrib.gis.db.models.Model",
        "django.tasks.task",
        "ksuid.Ksuid",
        "ksuid.KsuidMs",
        "fcntl.flock",
        "fcntl.lockf",
        "os.getrandom",
        "os.getppid",
        "os.uname",
        "redis_lock.RedisLock",
        "redis_lock.RedisSpinLock",
        "redlock.RedLock",
        "redlock.RedLockFactory.create_lock",
        "ulid.ULID.from_bytes",
        "ulid.ULID.from_datetime",
        "ulid.ULID.from_str",
        "ulid.ULID.from_timestamp",
        "ulid.ULID.parse",
        "ulid.from_str",
        "ulid.from_timestamp",
        "ulid.microsecond",
        "ulid.monotonic.new",
        "apscheduler.current_job.get",
        "ulid.new",
        "ulid.parse",
        "uuid.uuid6",
        "uuid.uuid7",
        "uuid.uuid8",
    }
)
# Given to instances when they are made.
DYNAMIC = frozenset(
    {
        "blacksheep.Application.on_start",
        "django.core.cache.cache.lock",
        "flask_restx.Api.route",
        "flask_sqlalchemy.SQLAlchemy.Column",
        "flask_sqlalchemy.SQLAlchemy.Model",
        "flask_sqlalchemy.SQLAlchemy.mapped_column",
        "kazoo.client.KazooClient.Election",
        "kazoo.client.KazooClient.Lock",
        "kazoo.client.KazooClient.Semaphore",
    }
)

MISSING = object()


@pytest.mark.parametrize("file", shipped().files, ids=lambda file: file.path.rpartition("/")[2])
def test_names_exist_in_the_library(file: ModelFile) -> None:
    checkable = [name for name in _names(file) if _installed(_package(name, file))]
    if not checkable:
        pytest.skip("library not installed")
    assert [name for name in checkable if not _exists(name)] == []


def _names(file: ModelFile) -> Iterator[str]:
    """The names to look up: not the old ones that aliases list, no patterns, no types of our own."""
    for table, row in rows(file):
        found = [*names(row, Form.SUBJECT), *names(row, Form.DOTTED)]
        for key, name in found:
            old = table == "alias" and key == "also"
            of_an_instance = key == "attribute" or (table == "returns" and key == "loop")
            if not (old or of_an_instance or "*" in name or _our_own(name)):
                yield name


def _our_own(name: str) -> bool:
    parts = name.split(".")
    return any(".".join(parts[:cut]) in _unreal_types() for cut in range(len(parts), 0, -1))


@cache
def _unreal_types() -> frozenset[str]:
    """Dotted classes that rows give to values and that no installed library has."""
    found = set()
    for file in shipped().files:
        for _, row in rows(file):
            match row:
                case Returns():
                    found.add(row.gives)
                case ContextModel():
                    found |= {cls for _, cls in row.parameters}
                case _:
                    pass
    return frozenset(each for each in found if not _exists(each))


def _package(name: str, file: ModelFile) -> str:
    """What must be importable for the name to be looked up (`google.api_core`, not `google`)."""
    roots = (root for root in file.library.imports if f"{name}.".startswith(f"{root}."))
    return max(roots, key=len, default=name.partition(".")[0])


@cache
def _installed(package: str) -> bool:
    try:
        return hasattr(builtins, package) or find_spec(package) is not None
    except ValueError:
        # A module that replaced itself when it was imported has no specification any more.
        return True
    except Exception:  # noqa: BLE001 - packages above it are imported, without their settings
        return False


@cache
def _exists(name: str) -> bool:
    if name in GONE | ELSEWHERE | DYNAMIC or hasattr(builtins, name):
        return True
    parts = name.split(".")
    found, rest = _import(parts)
    for number, part in enumerate(rest):
        try:
            inner = getattr(found, part, MISSING)
        except Exception:  # noqa: BLE001 - whatever a lazy object raises for want of its settings
            return True
        if inner is MISSING or isinstance(inner, property):
            # `Customer.sources.create`: only an instance has the attribute in the middle.
            return isclass(found) and (inner is not MISSING or number < len(rest) - 1)
        found = inner
    return True


def _import(parts: list[str]) -> tuple[Any, list[str]]:
    """The innermost module of a name, and what stands behind it.

    A module that is there and cannot be imported, for want of an optional dependency or of settings,
    answers for all names in it.
    """
    for cut in range(len(parts), 0, -1):
        module = ".".join(parts[:cut])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return import_module(module), parts[cut:]
        except Exception:  # noqa: BLE001 - whatever a library raises for want of its settings
            if _installed(module):
                return None, []
    return None, parts
