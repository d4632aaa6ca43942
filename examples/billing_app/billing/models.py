"""The tables, and how to get at them."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, String, create_engine, func
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship, sessionmaker

from billing import settings

engine = create_engine(settings.DATABASE_URL)
Session = sessionmaker(engine)


class Base(DeclarativeBase):
    pass


class Customer(Base):
    __tablename__ = "customers"

    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(String(254), unique=True)
    stripe_customer: Mapped[str]
    stripe_payment_method: Mapped[str]


class Seller(Base):
    __tablename__ = "sellers"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    stripe_account: Mapped[str]


class Order(Base):
    __tablename__ = "orders"

    id: Mapped[int] = mapped_column(primary_key=True)
    customer_id: Mapped[int] = mapped_column(ForeignKey("customers.id"))
    seller_id: Mapped[int] = mapped_column(ForeignKey("sellers.id"))
    total_cents: Mapped[int]
    shipping_cents: Mapped[int]
    status: Mapped[str] = mapped_column(default="open")
    payment_intent: Mapped[str | None]
    transfer: Mapped[str | None]

    customer: Mapped[Customer] = relationship()
    seller: Mapped[Seller] = relationship()


class Subscription(Base):
    __tablename__ = "subscriptions"

    id: Mapped[int] = mapped_column(primary_key=True)
    customer_id: Mapped[int] = mapped_column(ForeignKey("customers.id"))
    seats: Mapped[int]
    seat_cents: Mapped[int]
    setup_cents: Mapped[int]

    customer: Mapped[Customer] = relationship()


class Usage(Base):
    """What one subscription used in one month, e.g. period `2026-10`."""

    __tablename__ = "usage"

    id: Mapped[int] = mapped_column(primary_key=True)
    subscription_id: Mapped[int] = mapped_column(ForeignKey("subscriptions.id"))
    period: Mapped[str] = mapped_column(String(7))
    cents: Mapped[int]
    billed: Mapped[bool] = mapped_column(default=False)

    subscription: Mapped[Subscription] = relationship()


class Invoice(Base):
    __tablename__ = "invoices"

    id: Mapped[int] = mapped_column(primary_key=True)
    subscription_id: Mapped[int] = mapped_column(ForeignKey("subscriptions.id"))
    number: Mapped[str] = mapped_column(String(20), unique=True)
    cents: Mapped[int]
    status: Mapped[str] = mapped_column(default="open")
    payment_intent: Mapped[str | None]

    subscription: Mapped[Subscription] = relationship()


class Payout(Base):
    """Money on its way to a seller's bank: `sending` until Stripe has answered."""

    __tablename__ = "payouts"

    id: Mapped[int] = mapped_column(primary_key=True)
    seller_id: Mapped[int] = mapped_column(ForeignKey("sellers.id"))
    cents: Mapped[int]
    instant: Mapped[bool] = mapped_column(default=False)
    status: Mapped[str] = mapped_column(default="sending")
    request_key: Mapped[str | None]
    created: Mapped[datetime] = mapped_column(server_default=func.now())

    seller: Mapped[Seller] = relationship()
