"""Privacy loss of mechanisms."""

from dprank.audit.catalogue import cases
from dprank.audit.exact import privacy_loss

__all__ = ["cases", "privacy_loss"]
