"""Pictures of the audit."""
