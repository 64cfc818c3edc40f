"""The library's own promises of privacy, audited."""
