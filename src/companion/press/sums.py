"""Bytes: what of a build is what it made, and what the same machine made of the committed records."""

from __future__ import annotations

from companion.press.layout import Layout, digest

#: Of a build's checksums these are committed; the rest is the site, which changes with every word of its prose.
COMMITTED = ("records.json", "pages.json", "figures/")


def committed(sums: str) -> dict[str, str]:
    """Digests by name, of what numbers alone decide."""
    lines = (line.partition("  ")[::2] for line in sums.splitlines())
    return {name: made for made, name in lines if name.startswith(COMMITTED)}


def altered(layout: Layout, sums: str) -> list[str]:
    """A line for each file that is no longer what the build made."""
    lines = []
    for name, made in committed(sums).items():
        path = layout.build / name
        if not path.is_file() or digest(path.read_bytes()) != made:
            lines.append(f"{layout.name(path)}: {'altered' if path.is_file() else 'gone'} since it was built")
    return lines


def apart(expected: str, observed: str) -> list[str]:
    """A line for each file whose bytes are not those of the same machine before."""
    old, new = committed(expected), committed(observed)
    lines = []
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) != new.get(name):
            sides = "other bytes than" if name in old and name in new else "new, not" if name in new else "gone, but"
            lines.append(f"{name}: {sides} in the committed checksums, on the same machine")
    return lines
