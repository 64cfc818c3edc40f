"""The page of a report on a telephone: nothing runs over, no name is cut, whatever items are called."""

import numpy as np
import pytest

import dprank
from dprank._picture import drawn
from dprank.publication import publish
from dprank.report import report

#: Long, wide, of other scripts, without a blank.
NAMES = [
    "An overnight train between the capital and the coast, with sleeping cars and a place for bicycles",
    "W" * 90,
    "Grundstücksverkehrsgenehmigungszuständigkeitsübertragungsverordnung",
    "東京都の公共交通機関の拡充と自転車専用道路の整備について市民の意見を聞く",
    "تحسين شبكة النقل العام في المدينة وبناء مسارات للدراجات",
    "m@" * 30,
    "नगर में सार्वजनिक परिवहन का विस्तार",
    "👩‍🚀" * 24,
    "ÄÖÜ" * 20,
    "MIXED Case Of Every Word 100% @ HOME",
    "a",
]
#: What leaves the page, or its picture, at this width.
OVER = """() => {
    const wide = document.documentElement.scrollWidth > innerWidth ? ["page"] : [];
    for (const it of document.querySelectorAll("h1, p, li, td, th, figcaption, svg")) {
        const box = it.getBoundingClientRect();
        if (box.right > innerWidth || box.left < 0 || it.scrollWidth > it.clientWidth + 1 && it.clientWidth)
            wide.push(it.tagName + " " + it.textContent.slice(0, 40));
    }
    for (const svg of document.querySelectorAll("svg")) {
        const all = svg.viewBox.baseVal;
        for (const it of svg.querySelectorAll("text, line, circle")) {
            const box = it.getBBox();
            if (box.x < 0 || box.y < 0 || box.x + box.width > all.width || box.y + box.height > all.height)
                wide.push("picture " + it.textContent + " " + box.width);
        }
    }
    return wide;
}"""


def published(names, scale=1.0, **more):
    votes = dprank.Rankings([[*range(len(names))]] * 400, names)
    mechanism = dprank.PrivateBorda.calibrated(epsilon=scale, n_items=len(names))
    release = mechanism.release(votes, np.random.default_rng(1))
    return publish(release, "consensus", sampling="persons", persons=400, top=3, **more)


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 320, 1200])
@pytest.mark.parametrize("names", [NAMES, ["Pay", "Hours", "Canteen"], [f"{it} {it}" for it in range(70)]])
@pytest.mark.parametrize("scale", [1.0, 1e-5])
def test_nothing_is_cut(names, width, scale, reader, tmp_path):
    page, file = reader.page(), tmp_path / "r.html"
    page.set_viewport_size({"width": width, "height": 900})
    text = report(published(names, scale), "html")
    file.write_text(text, encoding="utf-8")
    page.goto(file.as_uri())
    assert page.evaluate(OVER) == []
    assert len(names) > 11 or ("<svg" in text) == (scale == 1.0)
    shown = page.evaluate("() => document.body.innerText")
    for name in names:
        assert name in shown
    drawn_names = "".join(page.evaluate("() => [...document.querySelectorAll('svg text')].map(it => it.textContent)"))
    whole = [name for name in names if name.replace(" ", "") in drawn_names.replace(" ", "")]
    assert len(whole) >= min(len(names), 60) * ("<svg" in text)


def test_a_name_beside_its_bar_is_one_line():
    from dprank._picture import Places

    short = drawn(Places(["Pay", "Hours"], [(1, 1), (2, 2)]), "t")
    assert 'text-anchor="end"' in short
    assert 'text-anchor="start"' not in short
    assert 'text-anchor="start"' in drawn(Places(["Pay " * 20, "Hours"], [(1, 1), (2, 2)]), "t")
