"""Published files of the tests, held against the JSON Schema of the package."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from dprank.publication import OLDER, identifier, json_schema, opened, read_publication


@cache
def validator() -> Any:
    """Of the schema, which is one itself."""
    schema = json_schema()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def faults(text: str) -> list[str]:
    """What in a published file is not as the schema says."""
    return [f"{error.json_path}: {error.message}" for error in validator().iter_errors(json.loads(text))]


def validated(written: Callable[[Mapping[str, Any]], str]) -> Callable[[Mapping[str, Any]], str]:
    """The same writer, which fails where what it writes is not of the schema."""

    def writer(file: Mapping[str, Any]) -> str:
        text = written(file)
        assert not faults(text), faults(text)
        return text

    return writer


def signed(file: Mapping[str, Any]) -> str:
    """A file as a forger leaves it: with the identifier of what it says now."""
    return json.dumps({**file, "id": identifier(file)})


def of_version_02(text: str) -> dict[str, Any]:
    """The same release in a file as version 0.2 wrote it."""
    release, file = read_publication(text), opened(text)
    inner = json.loads(release.to_json())
    kind = type(release.mechanism)
    inner |= {"format": 1, "mechanism": inner["mechanism"] | {"class": f"{kind.__module__}.{kind.__name__}"}}
    rules = file["rules"] | {"aliases": {}, "tuned on the data": "nothing"}
    kept = ("question", "ranges", "top", "right", "protects", "not protected", "declaration", "software")
    return {key: file[key] for key in kept} | {"schema": OLDER, "release": inner, "rules": rules}
