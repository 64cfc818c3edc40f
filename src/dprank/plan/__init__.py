"""What a release will cost and give, from public numbers alone. The room is its own door: call ``dprank.plan``."""

import sys
from types import ModuleType
from typing import Any

from dprank.plan.planner import Choice, Plan, plan

__all__ = ["Choice", "Plan", "plan"]


class _Door(ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> Plan:
        return plan(*args, **kwargs)


sys.modules[__name__].__class__ = _Door
