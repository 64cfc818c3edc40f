"""Privacy loss of mechanisms."""

from dprank.audit.exact import privacy_loss

__all__ = ["privacy_loss"]
