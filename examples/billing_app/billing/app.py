"""The web service: `uvicorn billing.app:app`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool

from billing import recovery, views, webhooks


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    await run_in_threadpool(recovery.resume_payouts)
    await run_in_threadpool(recovery.resume_instant_payouts)
    yield


app = FastAPI(title="Billing", lifespan=lifespan)
app.include_router(views.router)
app.include_router(webhooks.router)
