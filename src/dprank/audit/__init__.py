"""Privacy loss of mechanisms."""

from dprank.audit.auditor import Audit, audit
from dprank.audit.exact import privacy_loss

__all__ = ["Audit", "audit", "privacy_loss"]
