"""The parameters of a chapter: declared in the notebook's own cell, given by a profile or by a reader.

A declaration is an assignment with a comment, beside it or right above; its type is that of the default::

    exact_k = 20  # 2 .. 1000; how many are selected in the exact curves
    epsilons = [0.5, 1.0, 2.0]  # 0.01 .. 20; a list: each value in the range, none twice
    sizes = [8, 16, 32]  # 2+ of 2 .. 128; a list of at least two
    panels = [10, 100]  # of 10, 100, 500; each one of these
    records = "data/expected/standard.json"  # text: any, so there is only the phrase
"""

from __future__ import annotations

import ast
import io
import re
import reprlib
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import nbformat
from IPython.core.getipython import get_ipython

TAG = "parameters"
#: How the cell begins that papermill puts behind it.
INJECTED = "# Parameters\n"
NUMBER = r"\d[\d_.]*(?:e-?\d+)?"
RANGE = rf"(?:(?P<least>\d+)\+ of )?(?P<low>{NUMBER}) \.\. (?P<high>{NUMBER})"
FORM = re.compile(rf"(?:{RANGE}|of (?P<pool>{NUMBER}(?:, {NUMBER})*)); (?P<about>.+)")
KINDS = {int: "integer", float: "number", str: "text"}


class NotAllowed(ValueError):
    """A parameter that the notebook does not allow; shown in one line, by papermill and Jupyter alike."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One declaration: values from `low` to `high`, or out of `pool`; a list has `least` of them or more."""

    name: str
    default: Any
    about: str
    low: float = 0
    high: float = 0
    pool: tuple[float, ...] = ()
    least: int = 1

    @property
    def many(self) -> bool:
        """Whether it is a list."""
        return isinstance(self.default, list)

    @property
    def kind(self) -> type:
        """Type of the value, or of each value of a list."""
        return type(self.default[0] if self.many else self.default)

    @property
    def allowed(self) -> str:
        """Type and range in words."""
        word = KINDS[self.kind]
        if self.kind is str:
            return word
        pool = ", ".join(map(_plain, self.pool))
        span = f"one of {pool}" if pool else f"{_plain(self.low)} .. {_plain(self.high)}"
        if not self.many:
            return f"{'an' if word == 'integer' else 'a'} {word}, {span}"
        least = f" of {self.least} or more" if self.least > 1 else " of"
        return f"a list{least} {word}s, each {span}, none twice"

    def fit(self, value: Any) -> Any:
        """`value` as the notebook gets it; None if it is not allowed."""
        if not self.many:
            return self._fit(value)
        if not isinstance(value, list) or len(value) < self.least:
            return None
        fitted = [self._fit(it) for it in value]
        return None if None in fitted or len(set(fitted)) < len(fitted) else fitted

    def _fit(self, value: Any) -> Any:
        if self.kind is str:
            return value if isinstance(value, str) else None
        if isinstance(value, bool) or not isinstance(value, int if self.kind is int else int | float):
            return None
        fits = value in self.pool if self.pool else self.low <= value <= self.high
        return self.kind(value) if fits else None


def declared(notebook: nbformat.NotebookNode) -> dict[str, Parameter]:
    """Parameters of a notebook, by name."""
    found: dict[str, Parameter] = {}
    for cell in notebook.cells:
        if TAG in cell.metadata.get("tags", []):
            found |= declarations(cell.source)
    return found


def declarations(source: str) -> dict[str, Parameter]:
    """Parameters that a cell declares, by name; a ValueError says what is no declaration."""
    comments = _comments(source)
    found = {it.name: it for it in (_declaration(line, comments) for line in ast.parse(source).body)}
    fitted(found, {})
    return found


def check_parameters() -> None:
    """Refuse, in one line, what somebody gave the running notebook and its parameters do not allow.

    For the cell after the declarations: whoever runs the notebook, papermill, Jupyter or the book, is told alike.
    """
    shell = get_ipython()
    if shell is None:
        return
    ran = shell.user_ns["In"][1:-1]
    for source in ran:
        try:
            known = declarations(source)
        except (ValueError, SyntaxError):
            continue
        if known:
            break
    else:
        return
    for name in (it for source in ran if source.startswith(INJECTED) for it in _assigned(source)):
        if name not in known:
            raise NotAllowed(f"{name} is no parameter; allowed: {', '.join(known)}")
    try:
        fitted(known, {name: shell.user_ns[name] for name in known})
    except ValueError as error:
        raise NotAllowed(str(error)) from None


def _assigned(source: str) -> list[str]:
    """Names that a cell gives values to."""
    lines = (it for it in ast.parse(source).body if isinstance(it, ast.Assign))
    return [it.id for line in lines for it in line.targets if isinstance(it, ast.Name)]


def _comments(source: str) -> dict[int, str]:
    """Comments by the line that they are of: their own, or the next one if they stand alone."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = (token for token in tokens if token.type == tokenize.COMMENT)
    return {it.start[0] + it.line.startswith("#"): it.string.lstrip("# ") for it in comments}


def _declaration(line: ast.stmt, comments: Mapping[int, str]) -> Parameter:
    form = "`name = default  # low .. high; what it is`"
    match line:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            comment = comments.get(line.end_lineno or line.lineno) or comments.get(line.lineno, "")
        case _:
            raise ValueError(f"{ast.unparse(line)!r}; allowed: {form}")
    try:
        default = ast.literal_eval(value)
    except ValueError:
        raise ValueError(f"{name}: {ast.unparse(value)}; allowed: a literal") from None
    if isinstance(default, str) and comment:
        return Parameter(name=name, default=default, about=comment)
    parts = FORM.fullmatch(comment)
    if parts is None:
        raise ValueError(f"{name}: {comment!r}; allowed: {form}")
    values = default if isinstance(default, list) else [default]
    if len({type(it) for it in values}) != 1 or type(values[0]) not in KINDS:
        raise ValueError(f"{name}: {default!r}; allowed: integers, numbers or text, one or a list of them")
    try:
        low, high = (ast.literal_eval(parts[key] or "0") for key in ("low", "high"))
        pool = tuple(ast.literal_eval(f"[{parts['pool'] or ''}]"))
    except SyntaxError:
        raise ValueError(f"{name}: {comment!r}; allowed: {form}") from None
    least = int(parts["least"] or 1)
    return Parameter(name=name, default=default, about=parts["about"], low=low, high=high, pool=pool, least=least)


def fitted(known: Mapping[str, Parameter], values: Mapping[str, Any]) -> dict[str, Any]:
    """Every parameter as the notebook gets it; the default where `values` have none."""
    fits: dict[str, Any] = {}
    for name, it in known.items():
        value = values.get(name, it.default)
        fits[name] = it.fit(value)
        if fits[name] is None:
            such = f", such as {shown(it.default)}" if it.many else ""
            raise ValueError(f"{name} = {shown(value)}; allowed: {it.allowed}{such}")
    return fits


def listing(known: Mapping[str, Parameter], values: Mapping[str, Any]) -> list[str]:
    """Each parameter with its value, what is allowed, and what it is."""
    lines = []
    for it in known.values():
        lines += [f"{it.name} = {values.get(it.name, it.default)!r}", f"    {it.about}", f"    {it.allowed}"]
    return lines


def _plain(bound: float) -> str:
    return f"{bound:g}" if isinstance(bound, float) else f"{bound:_}"


def shown(value: Any) -> str:
    """`value` on one short line."""
    short = reprlib.Repr()
    short.maxstring = short.maxother = short.maxlong = 60
    short.maxlist = 12
    return short.repr(value)
