"""Text with its mathematics in Unicode, as LaTeX without packages."""

from __future__ import annotations

import re

from pylatexenc.latexencode import (
    RULE_DICT,
    RULE_REGEX,
    UnicodeToLatexConversionRule,
    UnicodeToLatexEncoder,
    unicode_to_latex,
)

#: What stands above a letter, and letters, of which pylatexenc knows none.
ABOVE = {"\u0303": "tilde", "\u0304": "bar", "\u0302": "hat", "\u0307": "dot"}
LETTERS = {"ᵢ": "_i", "ⱼ": "_j", "ᵀ": "^T", "Ȳ": r"\bar{Y}"}


def _accented(found: re.Match[str]) -> str:
    letter = unicode_to_latex(found[1]).removeprefix(r"\ensuremath{").removesuffix("}")
    return rf"\ensuremath{{\{ABOVE[found[2]]}{{{letter}}}}}"


_ENCODER = UnicodeToLatexEncoder(
    conversion_rules=[
        UnicodeToLatexConversionRule(RULE_REGEX, [(re.compile(f"(.)([{''.join(ABOVE)}])"), _accented)]),
        UnicodeToLatexConversionRule(RULE_DICT, {ord(c): rf"\ensuremath{{{to}}}" for c, to in LETTERS.items()}),
        "defaults",
    ],
    unknown_char_policy="fail",
)


def latex(text: str) -> str:
    """Every character in ASCII; a ValueError names one that has no form.

    Examples
    --------
    >>> print(latex("θ̃ ≤ ε"))
    \\ensuremath{\\tilde{\\theta}} \\ensuremath{\\leq} \\ensuremath{\\varepsilon}
    """
    return str(_ENCODER.unicode_to_latex(text))
