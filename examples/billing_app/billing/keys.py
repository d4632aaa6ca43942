"""Idempotency keys, all of them readable in Stripe's dashboard."""

import hashlib
import time
import uuid

from billing.models import Invoice


def of(operation: str, *parts: object) -> str:
    """`of("setup-fee", 7)` is `setup-fee:7`."""
    return ":".join([operation, *map(str, parts)])


def unique(operation: str) -> str:
    return f"{operation}:{uuid.uuid4().hex}"


def invoice_key(invoice: Invoice) -> str:
    """A digest, so that nothing about the customer leaves the house."""
    material = f"{invoice.number}/{invoice.cents}/{int(time.time())}"
    return hashlib.sha256(material.encode()).hexdigest()[:32]
