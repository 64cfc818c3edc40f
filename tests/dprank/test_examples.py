"""Every example in a docstring runs and says what it says."""

import doctest
import linecache
from importlib import import_module
from pkgutil import walk_packages

import pytest

import dprank

MODULES = ["dprank", *(module.name for module in walk_packages(dprank.__path__, "dprank."))]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name, monkeypatch):
    monkeypatch.setattr(linecache, "checkcache", lambda *_: None)  # no source changes while its examples run
    failed, _ = doctest.testmod(import_module(name), optionflags=doctest.ELLIPSIS)
    assert not failed


@pytest.mark.parametrize("name", [name for name in dprank.__all__ if name not in ("SECURE", "__version__")])
def test_every_name_at_the_front_door_has_an_example(name):
    one = getattr(dprank, name)
    one = getattr(one, name) if name in ("audit", "plan") else one  # rooms that are called
    assert "Examples\n" in (one.__doc__ or "") + (getattr(getattr(one, "calibrated", None), "__doc__", "") or "")


def test_everything_public_is_documented_and_every_module_says_what_is():
    bare = []
    for module in map(import_module, MODULES):
        own = {name: one for name, one in vars(module).items() if getattr(one, "__module__", "") == module.__name__}
        public = {name: one for name, one in own.items() if callable(one) and not name.startswith("_")}
        bare += [f"{module.__name__}.{name} is not documented" for name, one in public.items() if not one.__doc__]
        if public and not any(part.startswith("_") for part in module.__name__.split(".")[1:]):
            listed = getattr(module, "__all__", None)
            bare += [] if listed else [f"{module.__name__} does not say what is public"]
            bare += [f"{module.__name__}.{name} is not there" for name in listed or () if not hasattr(module, name)]
    assert not bare, "\n".join(bare)
