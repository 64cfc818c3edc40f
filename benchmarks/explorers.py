"""How soon explorers are there, and how long a move takes, on a slow phone: Chromium slowed down four times.

    python benchmarks/explorers.py [--site _build/html] [--slower 4] [--moves 40]

For every explorer of a site: when the page had painted and when the explorer was drawn, from the start of its loading,
and what moves of controls to values at random take, with drawing and layout: median and most, in seconds of the clock
and, as other work on the machine slows that down, of the page's own thread.
"""

import argparse
import random
import statistics
from pathlib import Path

from playwright.sync_api import sync_playwright

from companion.press.browser import CHROMIUM_FLAGS, find_chromium
from companion.press.views import PHONE

WATCH = """
window.drawn = {};
new MutationObserver(() => {
  for (const it of document.querySelectorAll(".explorer-live")) drawn[it.id] ??= performance.now();
}).observe(document, {subtree: true, childList: true, attributes: true});
"""
MOVE = """
([name, control, place]) => {
  const it = document.getElementById(name).querySelectorAll("input, select")[control];
  const last = it.tagName === "SELECT" ? it.options.length - 1 : +it.max || 1;
  const to = Math.round(place * last);
  if (it.tagName === "SELECT") it.selectedIndex = to;
  else if (it.type === "checkbox" || it.type === "radio") it.checked = true;
  else it.value = to;
  const start = performance.now();
  it.dispatchEvent(new Event("input", {bubbles: true}));
  document.body.offsetHeight;
  return performance.now() - start;
}
"""


def spent(session):
    """Milliseconds that the page's thread has computed for scripts, styles and layout."""
    metrics = {it["name"]: it["value"] for it in session.send("Performance.getMetrics")["metrics"]}
    return 1e3 * sum(metrics[f"{part}Duration"] for part in ("Script", "RecalcStyle", "Layout"))


def told(times):
    return f"{statistics.median(times):.1f} ms, at most {max(times):.1f} ms"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--site", type=Path, default=Path("_build/html"))
    parser.add_argument("--slower", type=float, default=4)
    parser.add_argument("--moves", type=int, default=40)
    given = parser.parse_args()
    rng = random.Random(20261126)
    pages = [it for it in sorted(given.site.rglob("*.html")) if 'class="explorer"' in it.read_text(encoding="utf-8")]
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_FLAGS)
        for path in pages:
            page = browser.new_page(viewport={"width": PHONE, "height": 844})
            page.add_init_script(WATCH)
            session = page.context.new_cdp_session(page)
            session.send("Emulation.setCPUThrottlingRate", {"rate": given.slower})
            session.send("Performance.enable", {"timeDomain": "threadTicks"})
            page.goto(path.resolve().as_uri())
            painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN")
            page.wait_for_timeout(3000)
            for name, drawn in page.evaluate("drawn").items():
                controls = page.locator(f"#{name} :is(input, select)").count()
                clock, thread = [], []
                for _ in range(given.moves):
                    before = spent(session)
                    clock.append(page.evaluate(MOVE, [name, rng.randrange(controls), rng.random()]))
                    thread.append(spent(session) - before)
                print(
                    f"{path.stem}: {name}: page painted after {painted:.0f} ms, drawn after {drawn:.0f} ms; "
                    f"a move takes {told(clock)} by the clock; {told(thread)} of the page's thread",
                    flush=True,
                )
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
