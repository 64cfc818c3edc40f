"""Published files of the tests, held against the JSON Schema of the package."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import fastjsonschema
from jsonschema import Draft202012Validator

from dprank.publication import OLDER, identifier, json_schema, opened, read_publication

#: Words of drafts after the seventh.
LATER = {"$anchor", "$dynamicRef", "dependentSchemas", "maxContains", "minContains", "prefixItems", "unevaluatedItems",
         "unevaluatedProperties"}  # fmt: skip


@cache
def validator() -> Any:
    """Of the schema, which is one itself."""
    schema = json_schema()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@cache
def quick() -> Callable[[Any], Any]:
    """Code that refuses what the schema refuses, in a tenth of the time, and says less: it knows draft 7."""
    compiled: Callable[[Any], Any] = fastjsonschema.compile(
        as_draft_7(json_schema()) | {"$schema": "http://json-schema.org/draft-07/schema#"}
    )
    return compiled


def as_draft_7(schema: Any) -> Any:
    """The same, where one word has another name; what draft 7 does not know, or passes over beside $ref, is refused."""
    if isinstance(schema, list):
        return [as_draft_7(it) for it in schema]
    if not isinstance(schema, dict):
        return schema
    assert not LATER & {*schema}, LATER & {*schema}
    assert "$ref" not in schema or {*schema} <= {"$ref", "description"}, schema
    return {"dependencies" if key == "dependentRequired" else key: as_draft_7(it) for key, it in schema.items()}


def faults(text: str) -> list[str]:
    """What in a published file is not as the schema says."""
    return [f"{error.json_path}: {error.message}" for error in validator().iter_errors(json.loads(text))]


def validated(written: Callable[[Mapping[str, Any]], str]) -> Callable[[Mapping[str, Any]], str]:
    """The same writer, which fails where what it writes is not of the schema."""

    def writer(file: Mapping[str, Any]) -> str:
        text = written(file)
        try:
            quick()(json.loads(text))
        except fastjsonschema.JsonSchemaException as refused:
            raise AssertionError(faults(text)) from refused
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
