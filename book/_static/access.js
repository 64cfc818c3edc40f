/* What scrolls in a box of its own is reached by the keyboard, while it scrolls. */
(() => {
  const boxes = "figure, div.math, .scoreboard, .claim-graph, .claim-checks, .terminal pre, .minister table";
  const reach = (box) => {
    const scrolls = box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX !== "visible";
    if (scrolls) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  };
  addEventListener("DOMContentLoaded", () => {
    const watch = new ResizeObserver((seen) => seen.forEach((it) => reach(it.target)));
    document.querySelectorAll(boxes).forEach((box) => watch.observe(box));
  });
})();
