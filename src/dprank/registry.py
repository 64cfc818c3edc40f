"""A card of a published file for OpenDP's registry of deployments, in the fields of its third tier."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from dprank._require import require_one_of, settle, shown
from dprank.publication import of_rules, opened, read_publication
from dprank.questions import QUESTIONS
from dprank.sentences import counted, declared_of, unit_of

__all__ = ["SECTORS", "Facts", "card"]

#: That the registry knows.
SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What a card says and a published file cannot know.

    Parameters
    ----------
    name : str
        Of what is published.
    curators, authors : tuple of str
        Who publishes it; who wrote the card.
    use : str
        What it is for.
    region : str
        Of the data, or of the laws that hold for them.
    day : str, optional
        Of publication, as 2026-11-25; today (UTC) unless given.
    sector : str, optional
        One of `SECTORS`.

    Raises
    ------
    ValueError
        Naming the field and what is allowed.

    Examples
    --------
    >>> Facts(name="", curators=("Ministry",), authors=("Ann",), use="Order of works", region="Utopia")
    Traceback (most recent call last):
        ...
    ValueError: name = ''; one line of text is needed
    """

    name: str
    curators: tuple[str, ...]
    authors: tuple[str, ...]
    use: str
    region: str
    day: str = ""
    sector: str | None = None

    def __post_init__(self) -> None:
        for field in ("name", "use", "region"):
            _require_line(field, getattr(self, field))
        for field in ("curators", "authors"):
            names = getattr(self, field)
            if type(names) not in (list, tuple) or not names:
                raise ValueError(f"{field} = {shown(names)}; at least one is needed")
            settle(self, **{field: tuple(_require_line(field, name) for name in names)})
        if self.sector is not None:
            require_one_of("sector", self.sector, SECTORS)
        day = self.day or datetime.now(UTC).date().isoformat()
        try:
            written = date.fromisoformat(day).isoformat()
        except (TypeError, ValueError):
            written = None
        if written is None or written != day:
            raise ValueError(f"day = {shown(self.day)}; a day as 2026-11-25 is needed")
        settle(self, day=day)


def card(text: str, facts: Facts) -> str:
    """The card of a published file, as YAML. It promises nothing that the file does not.

    Parameters
    ----------
    text : str
        As of `dprank.publication.publish`.
    facts : Facts

    Raises
    ------
    ValueError
        Where it is no such file, or its release is not for publication.

    Examples
    --------
    >>> import dprank
    >>> from dprank.publication import publish
    >>> votes = dprank.Rankings([[0, 1]] * 90, "ab")
    >>> mechanism = dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=2)
    >>> text = publish(mechanism.release(votes, dprank.SECURE), "consensus")
    >>> facts = Facts(
    ...     name="Staff survey", curators=("Ministry",), authors=("Ann",), use="Order of works", region="Utopia"
    ... )
    >>> print(card(text, facts).splitlines()[2])
    tier: 3
    """
    release, file = read_publication(text), opened(text)
    guarantee = release.guarantee
    if not release.publishable or guarantee is None:
        raise ValueError(f"release is {release.mark}: it has no card")
    whole = guarantee.unit == "voter"
    unit = (unit_of(release, file) or "person") if whole else "answer"
    parameters: dict[str, Any] = {"epsilon": guarantee.epsilon} | (
        {"delta": guarantee.delta} if guarantee.delta else {}
    )
    rows = f"{'all rows of ' if whole else ''}one {unit}"
    if guarantee.adjacency == "replace":
        adjacent = f"Two tables are adjacent if {rows} may be replaced by any others."
    else:
        adjacent = f"Two tables are adjacent if one has {rows} more than the other."
    rules, software = file["rules"], file["software"]
    said = counted(release, unit_of(release, file) or "person", file["bound"], declared_of(file))
    written = {
        "url_slug": _slug(facts),
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": {
                "name": facts.name,
                "data_curators": list(facts.curators),
                "intended_use": facts.use,
                "data_product_type": "Summary statistics",
                "data_product_region": facts.region,
                "description": " ".join(
                    [
                        QUESTIONS[file["question"]].asked,
                        *said,
                        "A differentially private answer, in one published file.",
                    ]
                ),
                "publication_date": facts.day,
                **({"data_product_sector": facts.sector} if facts.sector else {}),
            },
            "dp_variant": {
                "variant_name": "Approximate DP" if guarantee.delta else "Pure DP",
                "data_domain": "All tables of the declared columns, over the declared list of items.",
                "unprotected_quantities": "; ".join(file["not protected"]),
            },
            "privacy_loss": {
                "privacy_unit": f"One {unit}",
                "privacy_unit_details": adjacent,
                "privacy_parameters": parameters,
                "privacy_parameters_details": file["protects"],
            },
            "deployment_model": {
                "model_name": guarantee.model.capitalize(),
                "actors": "The curator sees the table. Whoever reads the published file sees that file alone.",
                "release_type": "One release",
                "release_type_details": "Another release of the same table costs its own epsilon.",
                "data_source_type": "Static",
                "access_type": "Non-interactive",
            },
            "accounting": {
                "post_processing": "Sorting; ranges of places from the public law of the noise.",
                "composition": "One mechanism, once.",
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": (
                    f"{' '.join(of_rules(file))} Rules look at a cell at a time. Bounding: {rules['bounding']}."
                ),
                "mechanisms": (
                    f"{type(release.mechanism).__name__} of dprank {software['dprank']}; whole noise by exact "
                    f"samplers, its own or OpenDP's ({software['opendp']}), from the operating system's randomness. No "
                    "measures against timing; nothing is interactive."
                ),
                "justification": "The sensitivity is proved and attained, the guarantee follows from the noise, and "
                "the audit of the library does not refute it.",
            },
            "administrative": {"registry_authors": list(facts.authors)},
        },
    }
    return _yaml(written)


def _slug(facts: Facts) -> str:
    words = re.findall(r"[a-z0-9]+", " ".join([facts.name, facts.curators[0], facts.day[:4]]).lower())
    return "-".join(words)


def _yaml(value: Mapping[str, Any], indent: str = "") -> str:
    """A mapping of mappings, lists of texts, and scalars."""
    lines = []
    for key, it in value.items():
        if isinstance(it, Mapping):
            lines.append(f"{indent}{key}:\n{_yaml(it, indent + '  ')}")
        elif isinstance(it, list):
            lines.append(f"{indent}{key}:\n" + "".join(f"{indent}  - {_scalar(one)}\n" for one in it))
        else:
            lines.append(f"{indent}{key}: {_scalar(it)}\n")
    return "".join(lines)


def _scalar(value: Any) -> str:
    """As in JSON, but for 1e-06, which YAML takes for a text."""
    written = json.dumps(value, ensure_ascii=False)
    return written if isinstance(value, str) or "." in written else written.replace("e", ".0e")


def _require_line(name: str, given: Any) -> str:
    if type(given) is not str or not given.strip() or not given.isprintable():
        raise ValueError(f"{name} = {shown(given)}; one line of text is needed")
    return given
