"""A table whose numbers follow a slider: precomputed, plain JavaScript, no request."""

from __future__ import annotations

import json
from html import escape

import pandas as pd
from IPython.display import HTML

_SCRIPT = """
(() => {
  const box = document.getElementById(NAME), data = DATA;
  const input = box.querySelector("input"), output = box.querySelector("output");
  const cells = box.querySelectorAll("td");
  const draw = () => {
    const page = data[input.value];
    output.textContent = page.label;
    page.values.forEach((p, i) => {
      cells[i].textContent = p >= 0.005 ? Math.round(100 * p) : "";
      cells[i].style.setProperty("--share", (100 * p).toFixed(1) + "%");
    });
  };
  input.addEventListener("input", draw);
  input.hidden = false;
  draw();
})();
"""


def probability_slider(name: str, frame: pd.DataFrame, *, along: str, rows: str, columns: str, value: str) -> HTML:
    """Probabilities in percent as a shaded table, a page for each value of the column `along`.

    Every page has every value of the columns `rows` and `columns`; without JavaScript the middle page is shown. No
    other element of the notebook has this `name`.
    """
    order, heads = list(frame[rows].unique()), list(frame[columns].unique())
    pages = [
        {"label": f"{key:g}", "values": page.pivot(index=rows, columns=columns, values=value).loc[order, heads]}
        for key, page in frame.groupby(along, sort=True)
    ]
    start = len(pages) // 2
    head = "".join(f'<th scope="col">{escape(str(h))}</th>' for h in heads)
    body = "".join(
        f'<tr><th scope="row">{escape(str(label))}</th>'
        + "".join(f"<td>{100 * p:.0f}</td>" if p >= 0.005 else "<td></td>" for p in values)
        + "</tr>"
        for label, values in zip(order, pages[start]["values"].to_numpy(), strict=True)
    )
    data = [{"label": p["label"], "values": [float(f"{v:.4f}") for v in p["values"].to_numpy().ravel()]} for p in pages]
    script = _SCRIPT.replace("NAME", json.dumps(name)).replace("DATA", json.dumps(data, separators=(",", ":")))
    return HTML(
        f'<div class="slider" id="{name}"><label>{escape(along)} = <output>{pages[start]["label"]}</output>'
        f'<input type="range" min="0" max="{len(pages) - 1}" value="{start}" hidden></label>'
        f'<table><thead><tr><th scope="col">{escape(columns)}</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
        f"<script>{script}</script>"
    )
