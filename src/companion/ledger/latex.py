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

from companion.ledger.card import NUMBERED, SCRIPT

#: A root of what stands in brackets, or of one number or letter.
ROOT = re.compile(r"√(?:\(((?:[^()]|\([^()]*\))*)\)|(\w+))")
#: What stands above a letter; and signs of which pylatexenc knows none, or one that asks for a package.
ABOVE = {"\u0303": "tilde", "\u0304": "bar", "\u0302": "hat", "\u0307": "dot"}
LETTERS = {"ᵢ": "_i", "ⱼ": "_j", "ᵀ": "^T", "Ȳ": r"\bar{Y}"} | {
    "≲": r"\stackrel{<}{\sim}",
    "≳": r"\stackrel{>}{\sim}",
    "ℝ": r"\mathbf{R}",
    "ℕ": r"\mathbf{N}",
    "𝔼": r"\mathbf{E}",
    "ℰ": r"\mathcal{E}",
}


def _accented(found: re.Match[str]) -> str:
    letter = unicode_to_latex(found[1]).removeprefix(r"\ensuremath{").removesuffix("}")
    return rf"\ensuremath{{\{ABOVE[found[2]]}{{{letter}}}}}"


def _scripted(found: re.Match[str]) -> str:
    base, sign, group = found.groups()
    inner = group[1:-1] if group[0] in "{(" else group
    return rf"\ensuremath{{{latex(base)}{sign}{{{latex(inner)}}}}}"


_ENCODER = UnicodeToLatexEncoder(
    conversion_rules=[
        UnicodeToLatexConversionRule(RULE_REGEX, [(SCRIPT, _scripted)]),
        UnicodeToLatexConversionRule(
            RULE_REGEX, [(NUMBERED, lambda it: rf"\ensuremath{{{latex(it[1])}_{{{latex(it[2])}}}}}")]
        ),
        UnicodeToLatexConversionRule(
            RULE_REGEX, [(ROOT, lambda it: rf"\ensuremath{{\sqrt{{{latex(it[1] or it[2])}}}}}")]
        ),
        UnicodeToLatexConversionRule(RULE_REGEX, [(re.compile(f"(.)([{''.join(ABOVE)}])"), _accented)]),
        UnicodeToLatexConversionRule(RULE_DICT, {ord(c): rf"\ensuremath{{{to}}}" for c, to in LETTERS.items()}),
        "defaults",
    ],
    unknown_char_policy="fail",
)


def latex(text: str) -> str:
    """Every character in ASCII, formulas as in `companion.ledger.card.typeset`; a ValueError names what has no form.

    Examples
    --------
    >>> print(latex("θ̃ ≤ ε"))
    \\ensuremath{\\tilde{\\theta}} \\ensuremath{\\leq} \\ensuremath{\\varepsilon}
    >>> print(latex("√(log n) n^(−1/2)"))
    \\ensuremath{\\sqrt{log n}} \\ensuremath{n^{\\ensuremath{-}1/2}}
    """
    return str(_ENCODER.unicode_to_latex(text))
