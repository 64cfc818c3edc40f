#!/usr/bin/env bash
# matplotlib 3.11.2 with layout="constrained", kiwisolver 1.5.1, SVG.
#
# A good guess: with svg.hashsalt set and no date, the same figure is the same file, byte for byte. It is not, where the
# constrained layout places the panels. The layout is solved by kiwisolver, whose Python side keeps the terms of an
# expression in a map by their addresses in memory; so the last bits of a panel's place are those of the run. Coordinates
# are rounded when they are written, and hide it. The names of clip paths are hashes of the exact rectangle, and show it.
# Of 14 figures made at random, 2 changed in ten drawings; the one below does, within one process, where other objects
# are made between two drawings.
#
# Seen: two files of 60 drawings, which differ in the names of clip paths alone. Whoever compares checksums of figures
# has to round the places (Axes.get_position) after the layout.
# It fails if all 60 are one.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --no-cache-dir matplotlib==3.11.2 kiwisolver==1.5.1 numpy==2.4.6
cat > "$folder/drawn.py" <<'PY'
import io
import random
import re

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

matplotlib.rcParams["svg.hashsalt"] = "the same"
RATIOS = [10.6, 9.6, 5.6, 12.6]


def drawn():
    figure, panels = plt.subplots(4, 1, figsize=(7, 9), layout="constrained", gridspec_kw={"height_ratios": RATIOS})
    for place, (axes, ratio) in enumerate(zip(panels, RATIOS)):
        axes.set_title("panel")
        axes.plot([0, 1], [0, ratio], label="x")
        axes.set_yticks([0, ratio], ["a" * (3 + place), "b"])
    panels[-1].set_xlabel("below\ntwo lines")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper left")
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    plt.close(figure)
    return file.getvalue()


random.seed(1)
files, kept = set(), []
for _ in range(60):
    files.add(drawn())
    kept.append([object() for _ in range(random.randrange(1000, 50000))])
bare = {re.sub(r"#?\bp[0-9a-f]{10}\b", "", file) for file in files}
print(f"{len(files)} files of 60 drawings, {len(bare)} without the names of clip paths")
raise SystemExit(len(files) == 1 or len(bare) != 1)
PY
"$folder/venv/bin/python" "$folder/drawn.py"
