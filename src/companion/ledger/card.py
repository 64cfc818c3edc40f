"""The card of a claim: its statement, its verdict and the checks that it turns on, for readers."""

from __future__ import annotations

import html
from collections.abc import Iterable

from companion.ledger.claim import RELATIONS, Check, Record, decisive
from companion.ledger.files import Claim

__all__ = ["anchor", "card", "show_number"]


def anchor(claim_id: str) -> str:
    """Id of a claim's card in the page that settles it."""
    return claim_id.replace(":", "-")


def card(claim: Claim, record: Record, profile: str) -> str:
    """Verdict card of a claim, as HTML; styled by `book/_static/book.css`."""
    checks, verdict = record.checks, record.verdict
    words = {True: "true", False: "false", None: "undecided"}
    e = html.escape

    def table(some: Iterable[Check]) -> str:
        rows = "\n".join(
            f'<tr class="claim-{c.about}"><td>{e(c.what)}<span class="claim-about">{e(_about(c))}</span></td>'
            f"<td>{show_number(c.observed)}{f' ± {show_number(c.error)}' if c.error else ''}</td>"
            f"<td>{e(RELATIONS[c.relation])} {show_number(c.bound)}</td>"
            f'<td class="claim-outcome claim-{words[c.outcome]}">{words[c.outcome]}</td></tr>'
            for c in some
        )
        head = "<thead><tr><th>quantity</th><th>observed</th><th>statement</th><th>outcome</th></tr></thead>"
        return f'<div class="claim-checks"><table>\n{head}\n<tbody>\n{rows}\n</tbody></table></div>'

    main = decisive(checks)
    foot = f"{claim.method} · profile {profile}" if claim.method else f"profile {profile}"
    full = f"<details><summary>all {len(checks)} checks</summary>\n{table(checks)}\n</details>\n"
    corrected = f'<p class="claim-corrected"><strong>Corrected:</strong> {e(claim.corrected or "")}</p>\n'
    return f"""<div class="claim claim-verdict-{verdict.split()[0]}" id="{e(anchor(claim.id))}">
<p class="claim-head"><code>{e(claim.id)}</code> <span class="claim-where">{e(claim.where)}</span>
<span class="claim-badge">{e(verdict)}</span></p>
<p class="claim-statement">{e(claim.statement)}</p>
{table(main)}
{full if len(main) < len(checks) else ""}{corrected if claim.corrected else ""}<p class="claim-foot">{e(foot)}</p>
</div>"""


def _about(check: Check) -> str:
    label = {
        "printed": "as printed",
        "supplied": "with supplied constants",
        "content": "does it say anything",
        "corrected": "corrected statement",
        "argument": "a step of the argument",
    }[check.about]
    return f"{label}, {check.reading}" if check.reading else label


def show_number(value: float) -> str:
    """A number of a check for readers: six digits, infinity as a sign."""
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}".replace("inf", "∞")
