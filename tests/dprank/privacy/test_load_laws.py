"""The laws of a family are loaded with the first question, and asked for again where that was broken off."""

import pytest

from dprank.privacy import laws


def test_an_import_that_was_broken_off_is_tried_again(monkeypatch):
    asked = []

    def interrupted(name):
        asked.append(name)
        if len(asked) == 1:
            raise KeyboardInterrupt

    family = type("Mechanism", (), {"__module__": "dprank.family.mechanism"})
    monkeypatch.setattr(laws.importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(laws.importlib, "import_module", interrupted)
    with pytest.raises(KeyboardInterrupt):
        laws._load_laws(family())
    assert laws._load_laws(family())
    assert not laws._load_laws(family())
    assert asked == 2 * ["dprank.family.laws"]
