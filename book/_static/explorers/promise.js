/* Break the promise: the exact law of the order of noisy wins, before and after Anna changes one answer.

   In units of the noise scale an item with score c has the density exp(-|x - c|) / 2. Between two neighbouring scores
   that is one exponential, falling for items with the score below and rising for the others. The probability that a run
   of items lies there in a given order depends on the width and on who rises: a table. Sums and products of positive
   numbers put the stretches together, so that rare orders keep their digits. */
explorers.define("promise", (() => {
  const FACTORIAL = [1, 1, 2, 6, 24, 120, 720];
  const TERMS = 24; /* of a power series, on stretches of at most a quarter */
  const SHOWN = 6; /* orders at most, the one that tells most among them */
  const ITEMS = "ABCDEF";

  /* How many items of a run rise. The code of a run is a one, then a bit for each item, 1 for rising. */
  const RISE = new Uint8Array(128);
  for (let code = 2; code < 128; code++) RISE[code] = RISE[code >> 1] + (code & 1);

  /* runs[code]: the integral over 0 < u1 < ... < ur < width of a factor for each u, exp(-u) where the item falls and
     exp(u - width) where it rises. */
  const stretch = (width, items) => {
    const halvings = Math.max(0, Math.ceil(Math.log2(4 * width)));
    let h = width / 2 ** halvings;
    let runs = new Float64Array(2 ** (items + 1));
    const extend = (code, series) => {
      runs[code] = series.reduceRight((sum, it) => sum * h + it) * Math.exp(-h * RISE[code]);
      if (2 * code >= runs.length) return;
      for (const up of [0, 1]) {
        const next = new Float64Array(TERMS); /* the integral of series times exp(u) or exp(-u) */
        for (let power = 1, factor = 1; power < TERMS; factor *= (up ? 1 : -1) / power++) {
          for (let k = 0; k + power < TERMS; k++) next[k + power] += (factor * series[k]) / (k + power);
        }
        extend(2 * code + up, next);
      }
    };
    extend(1, new Float64Array(TERMS).fill(1, 0, 1));
    for (let i = 0; i < halvings; i++, h *= 2) {
      const twice = new Float64Array(runs.length);
      const fall = Array.from({ length: items + 1 }, (_, k) => Math.exp(-h * k));
      for (let code = 1; code < runs.length; code++) {
        for (let later = 0; code >> later; later++) { /* so many items lie in the second half */
          const first = code >> later;
          const second = code - (first << later) + (1 << later);
          twice[code] += runs[first] * runs[second] * fall[RISE[first] + later - RISE[second]];
        }
      }
      runs = twice;
    }
    return runs;
  };

  /* All orders of items, worst first, one after the other as in a dictionary; and what a reader calls them. */
  const chains = (left) =>
    left.length ? left.flatMap((it) => chains(left.filter((other) => other !== it)).map((rest) => [it, ...rest])) : [[]];
  const called = [];
  const names = (items) =>
    (called[items] ??= chains([...Array(items).keys()]).map((chain) => chain.reverse().map((it) => ITEMS[it]).join(" > ")));

  /* The probabilities of all orders; scores are in units of the scale. */
  const law = (scores) => {
    const knots = [...new Set(scores)].sort((a, b) => a - b);
    const [low, high, n] = [knots[0], knots.at(-1), scores.length];
        const stretches = knots.slice(1).map((knot, s) => {
      const rises = scores.map((c) => c >= knot);
      const weight = scores.map((c, i) => Math.exp(rises[i] ? knot - c : c - knots[s]) / 2);
      return { rises, weight, runs: stretch(knot - knots[s], n) };
    });
    const chain = []; /* the worst first */
    const under = [knots.map(() => 1)]; /* under[k][s]: the first k of the chain are in order and below knot s */
    const chances = [];
    const extend = (left, lowest) => {
      const k = chain.length;
      for (const item of left) {
        chain.push(item);
        const all = (lowest * Math.exp(low - scores[item])) / 2;
        const mine = (under[k + 1] = [all / FACTORIAL[k + 1]]);
        stretches.forEach(({ rises, weight, runs }, s) => {
          let sum = mine[s];
          for (let j = k, code = 1, product = 1; j >= 0; j--) { /* items j, ..., k of the chain lie on this stretch */
            code += (rises[chain[j]] ? 2 : 1) << (k - j);
            product *= weight[chain[j]];
            sum += under[j][s] * product * runs[code];
          }
          mine.push(sum);
        });
        extend(left.filter((it) => it !== item), all);
        chain.pop();
      }
      if (left.length) return;
      let [chance, product] = [under[n].at(-1), 1];
      for (let j = n - 1; j >= 0; j--) { /* items j, ..., n - 1 lie above all scores */
        product *= Math.exp(scores[chain[j]] - high) / 2;
        chance += (under[j].at(-1) * product) / FACTORIAL[n - j];
      }
      chances.push(chance);
    };
    extend([...scores.keys()], 1);
    return chances;
  };

  /* Wins of the items from the answers of all but Anna: each compares two items, the first of which is better for
     most; some say the reverse. */
  const others = ({ items, voters, asked, reverse }) => {
    const wins = Array(items).fill(0);
    const pairs = [];
    for (let i = 0; i < items; i++) for (let j = i + 1; j < items; j++) pairs.push([i, j]);
    const compared = { same: [[0, 1]], turn: pairs, last: [[items - 2, items - 1]] }[asked];
    const against = Math.floor(reverse * (voters - 1));
    for (let v = 0; v < voters - 1; v++) wins[compared[v % compared.length][v < against ? 1 : 0]]++;
    return wins;
  };

  /* The most likely orders, and the one that tells most; of orders with the same probabilities the first, and how many
     there are. */
  const shown = (orders, worst) => {
    const kinds = new Map();
    for (const it of orders) {
      const kind = [it.before, it.after].map((p) => Math.round(1e9 * Math.log(p))).join();
      if (!kinds.has(kind)) kinds.set(kind, { ...it, alike: 0 });
      kinds.get(kind).alike++;
    }
    const rows = [...kinds.values()].sort((a, b) => b.before + b.after - a.before - a.after);
    for (const it of rows) it.most = it.order === worst.order;
    return rows.length > SHOWN ? rows.filter((it, i) => i < SHOWN - 1 || it.most) : rows;
  };

  const over = (ratio, epsilon) => Math.abs(ratio) > epsilon * (1 + 1e-9);

  const compute = (state, { scales }) => {
    const { items, noise, epsilon, anna } = state;
    const [from, to] = { ab: [0, 1], ba: [1, 0], al: [0, items - 1], la: [items - 1, 0] }[anna];
    const wins = [from, to].map((mine) => others(state).map((it, i) => it + (i === mine)));
    const [before, after] = wins.map((each) => law(each.map((it) => (it * epsilon) / scales[noise])));
    const orders = names(items).map((order, i) => ({ order, before: before[i], after: after[i], ratio: Math.log(after[i] / before[i]) }));
    const worst = orders.reduce((best, it) => (Math.abs(it.ratio) > Math.abs(best.ratio) + 1e-9 ? it : best));
    const loss = Math.abs(worst.ratio);
    return { wins, orders, rows: shown(orders, worst), worst, loss, broken: over(loss, epsilon) };
  };

  const significant = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
  const say = (x) => (x >= 1e-4 ? significant.format(x) : x.toExponential(1).replace("e-", "e−"));
  const times = (ratio) => say(Math.exp(Math.abs(ratio)));
  const unbroken = (order) => order.replaceAll(" ", "\u00a0");
  const name = ({ order, alike }) => order + (alike > 1 ? ` and ${alike - 1} like it` : "");
  const size = ({ voters, items }) => `${voters} voter${voters > 1 ? "s" : ""}, ${items} items`;

  /* The needle stands upright at what is promised, and lies on the right at twice that. */
  const dial = ({ loss, broken }, { epsilon }, { el }) => {
    const at = (share, radius) => {
      const angle = Math.PI * (1 - share / 2);
      return [110 + radius * Math.cos(angle), 108 - radius * Math.sin(angle)].map((it) => it.toFixed(1));
    };
    const arc = (from, to, kind) => el("path", { class: kind, d: `M${at(from, 84)} A84 84 0 0 1 ${at(to, 84)}` });
    const text = (x, y, words, kind = "") => el("text", { x, y, "text-anchor": "middle", class: kind }, words);
    const [x2, y2] = at(Math.min(loss / epsilon, 2), 78);
    const words = `loss ${say(loss)}: ${broken ? "broken" : "kept"}`;
    return el(
      "svg",
      { viewBox: "0 0 220 134", class: "promise-dial", role: "img", "aria-label": `${words}, promised ${epsilon}` },
      arc(0, 1, "promise-kept"),
      arc(1, 2, "promise-more"),
      text(110, 10, `promised ${epsilon}`),
      text(26, 126, "0"),
      text(194, 126, String(2 * epsilon)),
      el("line", { x1: 110, y1: 108, x2, y2 }),
      el("circle", { cx: 110, cy: 108, r: 5 }),
      text(110, 130, words, broken ? "promise-no" : "promise-yes"),
    );
  };

  const bars = ({ rows }, { epsilon }, { el }) => {
    const longest = Math.max(...rows.flatMap((it) => [it.before, it.after]));
    const key = (when) => el("span", { class: `promise-${when}` }, el("i"));
    const bar = (when, chance) =>
      el("span", { class: `promise-${when}`, style: `--share: ${(chance / longest).toFixed(4)}` }, el("i"), say(chance));
    const row = (it) =>
      el(
        "div",
        { class: over(it.ratio, epsilon) ? "promise-over" : "" },
        el("b", {}, name(it), it.most && rows.length > 2 ? ", which tells most" : ""),
        el("em", {}, `${it.ratio < 0 ? "÷" : "×"} ${times(it.ratio)}`),
        el("span", { class: "promise-pair" }, bar("before", it.before), bar("after", it.after)),
      );
    const legend = ` after Anna's change; ×, ÷ how many times as likely or unlikely: at most ${times(epsilon)} is promised`;
    return el("div", { class: "promise-orders" }, el("p", {}, key("before"), " before, ", key("after"), legend), ...rows.map(row));
  };

  let least; /* the state of the fewest voters, then items, that broke the promise as printed */
  const smaller = (a, b) => (a.voters - b.voters || a.items - b.items) < 0;

  return {
    compute,
    draw: (view, result, state, tools) => {
      if (result.broken && state.noise === "printed" && (!least || smaller(state, least))) least = state;
      const { el } = tools;
      const found = el("p", { class: "promise-least" }, least ? `Smallest so far: ${size(least)}` : "Not broken yet");
      view.replaceChildren(el("div", { class: "promise" }, el("div", {}, dial(result, state, tools), found), bars(result, state, tools)));
    },
    say: ({ worst, loss, broken, wins: [before, after] }, state) =>
      `${broken ? "Broken" : "Kept"}. ${size(state)}, wins ${before.join(", ")} before and ${after.join(", ")} after. ` +
      `The order ${unbroken(worst.order)} has probability ${say(worst.before)} before and ${say(worst.after)} after, ` +
      `${times(loss)} times as ${worst.ratio < 0 ? "unlikely" : "likely"}; the promise allows ${times(state.epsilon)}. ` +
      `The privacy loss is ${say(loss)}, promised ${state.epsilon}.` +
      (state.noise === "right" ? " With this noise no data break it: it covers both wins that Anna moves." : ""),
    table: ({ rows }) => [
      ["order", "before", "after", "log ratio"],
      ...rows.map((it) => [name(it), say(it.before), say(it.after), it.ratio.toFixed(3).replace("-", "−")]),
    ],
    act: (value, state, { states }) => states[value],
  };
})());
