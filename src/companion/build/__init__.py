"""The press: profiles, execute, collect, judge, render, verify; `companion book` runs it."""


class BuildError(Exception):
    """The build failed; exit code 1."""


class UsageError(Exception):
    """The build was asked for something that does not exist; exit code 2."""
