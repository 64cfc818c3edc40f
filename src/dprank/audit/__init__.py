"""Privacy loss of mechanisms. The room is its own door: call ``dprank.audit`` to ask the auditor."""

import sys
from types import ModuleType
from typing import Any

from dprank.audit.auditor import Audit, audit
from dprank.audit.exact import privacy_loss

__all__ = ["Audit", "audit", "privacy_loss"]


class _Door(ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> Audit:
        return audit(*args, **kwargs)


sys.modules[__name__].__class__ = _Door
