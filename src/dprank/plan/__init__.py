"""What a release will cost and give, from public numbers alone. The room is its own door: call ``dprank.plan``."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from dprank._door import door

if TYPE_CHECKING:
    from dprank.plan.planner import Choice, Plan, plan

__all__ = ["Choice", "Plan", "plan"]
_HOMES = {
    "dprank.plan.planner": "Choice Plan plan",
}
__getattr__ = door(__name__, _HOMES)


class _Door(ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> Plan:
        return self.plan(*args, **kwargs)


sys.modules[__name__].__class__ = _Door
