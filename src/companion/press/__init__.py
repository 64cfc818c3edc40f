"""The press: profiles, execute, collect, judge, render, verify; `companion book` runs it."""


class BuildError(Exception):
    """The build failed; exit code 1."""


class UsageError(Exception):
    """The build was asked for something that does not exist; exit code 2."""


def fault(error: OSError) -> str:
    """What the system refused, and where, in one line."""
    where = f": {error.filename}" if error.filename is not None else ""
    return " ".join(f"{error.strerror or error}{where}".split())
