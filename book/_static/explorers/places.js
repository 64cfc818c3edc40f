/* The probability of each place for each item, at a price that the reader chooses; data.chances has a table for each. */
explorers.define("places", (() => {
  const percent = (p) => (p >= 0.005 ? String(Math.round(100 * p)) : "");
  const rows = (chances, { items }, show) => items.map((name, i) => [name, ...chances[i].map(show)]);
  const heads = ({ items }) => items.map((_, place) => place + 1);

  return {
    compute: ({ epsilon }, { epsilons, chances }) => chances[epsilons.indexOf(epsilon)],
    draw: (view, chances, state, { el, data }) => {
      const cell = (p) => el("td", { style: `--share: ${p}` }, percent(p));
      view.replaceChildren(
        el("table", { class: "shades" },
          el("caption", {}, "Probability of each place, in per cent"),
          el("thead", {}, el("tr", {}, ...["", ...heads(data)].map((it) => el(it ? "th" : "td", it ? { scope: "col" } : {}, String(it))))),
          el("tbody", {}, ...rows(chances, data, cell).map(([name, ...cells]) => el("tr", {}, el("th", { scope: "row" }, name), ...cells)))));
    },
    say: (chances, { epsilon }, { items }) => {
      const likely = items.map((name, i) => [name, Math.max(...chances[i])]);
      const told = likely.map(([name, p], i) => `${name} ${chances[i].indexOf(p) + 1} (${p > 0.995 ? "over 99" : Math.round(100 * p)}\u00a0%)`);
      return `At ε = ${epsilon} the most probable places are: ${told.join(", ")}.`;
    },
    table: (chances, state, data) => [["university", ...heads(data)], ...rows(chances, data, (p) => p.toFixed(3))],
  };
})());
