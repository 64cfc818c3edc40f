/* What scrolls in a box of its own is reached by the keyboard, while it scrolls. */
(() => {
  const boxes =
    "pre, figure, .formula, span.math, .output, .pst-scrollable-table-container, .scoreboard, .claim-graph, .claim-checks, .minister table";
  const reach = (box) => {
    const { overflowX, overflowY } = getComputedStyle(box);
    const wide = overflowX !== "visible" && box.scrollWidth - box.clientWidth > 1;
    const tall = overflowY !== "visible" && box.scrollHeight - box.clientHeight > 9; /* a formula's depth is no reason */
    if (wide || tall) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  };
  addEventListener("DOMContentLoaded", () => {
    const watch = new ResizeObserver((seen) => seen.forEach((it) => reach(it.target)));
    document.querySelectorAll(boxes).forEach((box) => watch.observe(box));
  });
})();
