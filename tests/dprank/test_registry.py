"""Cards for the registry of deployments: its fields and no others, what the published file says, nothing invented."""

import json
from itertools import product

import numpy as np
import pytest
import yaml
from test_cli import run

import dprank
from dprank.publication import publish
from dprank.registry import Facts, card

FACTS = {
    "name": "Staff survey",
    "curators": ("Ministry of Works",),
    "authors": ("Ann Lee",),
    "use": "Which works come first",
    "region": "Utopia",
}
#: The fields of the registry (July 2026), those that are due with a star.
FIELDS = {
    "": "url_slug* status* tier* deployment*",
    "deployment": "basic* dp_variant privacy_loss deployment_model accounting implementation administrative",
    "basic": "name* data_curators* description* intended_use* data_product_type* data_product_region* "
    "publication_date* data_product_sector",
    "dp_variant": "variant_name data_domain unprotected_quantities",
    "privacy_loss": "privacy_unit privacy_unit_details privacy_parameters privacy_parameters_details",
    "privacy_parameters": "epsilon delta rho",
    "deployment_model": "model_name model_name_details actors release_type release_type_details data_source_type "
    "data_source_type_details access_type access_type_details",
    "accounting": "post_processing composition",
    "implementation": "preprocessing_and_hyperparameter_tuning mechanisms justification",
    "administrative": "sources notes registry_authors*",
}
VOTES = dprank.Rankings([[0, 1, 2]] * 90, "abc")


def written(delta=0.0, adjacency="replace", rng=dprank.SECURE):
    mechanism = dprank.PrivateBorda.calibrated(epsilon=1.0, delta=delta, n_items=3, adjacency=adjacency)
    return publish(mechanism.release(VOTES, rng), "consensus")


def unfit(value, name=""):
    """Fields that the registry does not know, or lacks."""
    known = FIELDS[name].split()
    faults = [key for key in value if key not in {field.rstrip("*") for field in known}]
    faults += [field for field in known if field.endswith("*") and field[:-1] not in value]
    return faults + [fault for key, it in value.items() if isinstance(it, dict) for fault in unfit(it, key)]


@pytest.mark.parametrize(("delta", "adjacency"), [(0.0, "replace"), (1e-6, "add_remove")])
def test_a_card_has_the_fields_of_the_registry_and_says_what_the_file_says(delta, adjacency):
    made = yaml.safe_load(card(written(delta, adjacency), Facts(**FACTS, sector="Government", day="2026-11-25")))
    assert unfit(made) == []
    assert (made["tier"], made["status"]) == (3, "Draft")
    deployment = made["deployment"]
    assert deployment["dp_variant"]["variant_name"] == ("Approximate DP" if delta else "Pure DP")
    parameters = deployment["privacy_loss"]["privacy_parameters"]
    assert parameters["epsilon"] <= 1.0
    assert parameters.get("delta", 0.0) == delta
    assert ("replaced" in deployment["privacy_loss"]["privacy_unit_details"]) == (adjacency == "replace")
    assert deployment["basic"]["publication_date"] == "2026-11-25"
    assert all(not isinstance(it, str) or (it.strip() and "  " not in it) for it in leaves(made))
    assert "90" not in json.dumps(made)


def leaves(value):
    for it in value.values() if isinstance(value, dict) else value:
        yield from leaves(it) if isinstance(it, dict | list) else [it]


def test_this_test_sees_a_foreign_field():
    made = yaml.safe_load(card(written(), Facts(**FACTS)))
    made["deployment"]["basic"] = {"name": "x", "rows": 90}
    assert {"rows", "data_curators*", "description*"} <= set(unfit(made))


def test_a_seeded_release_has_no_card():
    with pytest.raises(ValueError, match="not for publication"):
        card(written(rng=np.random.default_rng(1)), Facts(**FACTS))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *product(("name", "use", "region"), ("", " ", "a\nb", "a\u2028b", "\x7f", None, 3)),
        *product(("curators", "authors"), ((), ("",), "Ann", None, (1,))),
        *product(("day",), ("25.11.2026", "2026-13-01", "2026-11-25T10:00", "20261125", 3)),
        ("sector", "Sports"),
    ],
)
def test_what_is_no_fact_is_refused_by_its_name(field, value):
    with pytest.raises(ValueError, match=field) as refusal:
        Facts(**(FACTS | {field: value}))
    assert len(str(refusal.value).splitlines()) == 1


def test_words_that_yaml_reads_otherwise_stay_words():
    names = {"name": 'no: "yes" # {x} \\', "region": "Zoë’s 🗳️ land", "use": "null", "curators": ("- 1e3",)}
    basic = yaml.safe_load(card(written(), Facts(**(FACTS | names))))["deployment"]["basic"]
    assert [basic["name"], basic["data_product_region"], basic["intended_use"]] == list(names.values())[:3]
    assert basic["data_curators"] == ["- 1e3"]


def test_at_the_command_line(tmp_path, capsys):
    path = tmp_path / "release.json"
    path.write_text(written())
    flags = [
        "--name",
        "Staff survey",
        "--curator",
        "Ministry",
        "--author",
        "Ann",
        "--use",
        "Works",
        "--region",
        "Utopia",
    ]
    code, said, _ = run(capsys, "card", path, *flags)
    assert code == 0
    assert unfit(yaml.safe_load(said)) == []
    code, said, error = run(capsys, "card", path, *flags, "--sector", "Sports")
    assert (code, said) == (2, "")
    assert "sector" in error
