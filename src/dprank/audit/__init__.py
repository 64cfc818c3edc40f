"""Privacy loss of mechanisms. The room is its own door: call ``dprank.audit`` to ask the auditor."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from dprank._door import door

if TYPE_CHECKING:
    from dprank.audit.auditor import Audit, audit
    from dprank.audit.exact import privacy_loss

__all__ = ["Audit", "audit", "privacy_loss"]
_HOMES = {
    "dprank.audit.auditor": "Audit audit",
    "dprank.audit.exact": "privacy_loss",
}
__getattr__ = door(__name__, _HOMES)


class _Door(ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> Audit:
        return self.audit(*args, **kwargs)


sys.modules[__name__].__class__ = _Door
