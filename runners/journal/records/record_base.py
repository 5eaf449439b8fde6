"""The base of all journal records."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Record(Frozen):
    at: float
    """Epoch seconds by the controller's time (`controller_clock.py`), which setting a clock does not move."""
