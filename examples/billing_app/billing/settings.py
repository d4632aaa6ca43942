"""What the environment decides."""

import os
from datetime import timedelta

DATABASE_URL = os.environ.get("DATABASE_URL", "sqlite:///billing.db")
REDIS_URL = os.environ.get("REDIS_URL", "redis://localhost:6379/0")
BROKER_URL = os.environ.get("BROKER_URL", "redis://localhost:6379/1")

STRIPE_API_KEY = os.environ.get("STRIPE_API_KEY", "")
STRIPE_WEBHOOK_SECRET = os.environ.get("STRIPE_WEBHOOK_SECRET", "")

CURRENCY = "eur"
PLATFORM_FEE_PERCENT = 8
LOCK_SECONDS = 600

# Stripe keeps a key for a day at least; older work is for a person to look at.
RESUME_WITHIN = timedelta(hours=20)
