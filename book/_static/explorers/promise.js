/* Break the promise: the exact law of the order of noisy wins, before and after Anna changes one answer.

   In units of the noise scale an item with score c has the density exp(-|x - c|) / 2. Between two neighbouring scores
   that is one exponential, falling for items with the score below and rising for the others. The probability that a run
   of items lies there in a given order depends on the width and on who rises: a table. Sums and products of positive
   numbers put the stretches together, so that rare orders keep their digits. */
explorers.define("promise", (() => {
  const FACTORIAL = [1, 1, 2, 6, 24, 120, 720];
  const TERMS = 24; /* of a power series, on stretches of at most a quarter */
  const SHOWN = 5; /* orders, and the one that tells most */
  const ITEMS = "ABCDEF";

  const rise = (code) => (code > 1 ? (code & 1) + rise(code >> 1) : 0);

  /* runs[code]: the integral over 0 < u1 < ... < ur < width of a factor for each u, exp(-u) where the item falls and
     exp(u - width) where it rises. The code of a run is a one, then a bit for each item, 1 for rising. */
  const stretch = (width, items) => {
    const halvings = Math.max(0, Math.ceil(Math.log2(4 * width)));
    let h = width / 2 ** halvings;
    let runs = new Float64Array(2 ** (items + 1));
    const extend = (code, series) => {
      runs[code] = series.reduceRight((sum, it) => sum * h + it) * Math.exp(-h * rise(code));
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
      for (let code = 1; code < runs.length; code++) {
        for (let later = 0; code >> later; later++) { /* so many items lie in the second half */
          const [first, second] = [code >> later, (code % 2 ** later) + 2 ** later];
          twice[code] += runs[first] * runs[second] * Math.exp(-h * (rise(first) + later - rise(second)));
        }
      }
      runs = twice;
    }
    return runs;
  };

  /* All orders, each with its probability; scores are in units of the scale. */
  const law = (scores) => {
    const knots = [...new Set(scores)].sort((a, b) => a - b);
    const [low, high, n] = [knots[0], knots.at(-1), scores.length];
    const tables = {};
    const stretches = knots.slice(1).map((knot, s) => {
      const rises = scores.map((c) => c >= knot);
      const weight = scores.map((c, i) => Math.exp(rises[i] ? knot - c : c - knots[s]) / 2);
      return { rises, weight, runs: (tables[knot - knots[s]] ??= stretch(knot - knots[s], n)) };
    });
    const chain = []; /* the worst first */
    const under = [knots.map(() => 1)]; /* under[k][s]: the first k of the chain are in order and below knot s */
    const orders = [];
    const extend = (left, lowest) => {
      const k = chain.length;
      for (const item of left) {
        chain.push(item);
        const all = (lowest * Math.exp(low - scores[item])) / 2;
        const mine = (under[k + 1] = [all / FACTORIAL[k + 1]]);
        stretches.forEach(({ rises, weight, runs }, s) => {
          let [sum, code, product] = [mine[s], 1, 1];
          for (let j = k; j >= 0; j--) { /* items j, ..., k of the chain lie on this stretch */
            code += 2 ** (k - j) * (rises[chain[j]] ? 2 : 1);
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
      orders.push({ order: chain.toReversed().map((it) => ITEMS[it]).join(" > "), chance });
    };
    extend([...scores.keys()], 1);
    return orders;
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

  const compute = (state, { scales }) => {
    const { items, noise, epsilon, anna } = state;
    const [from, to] = { ab: [0, 1], ba: [1, 0], al: [0, items - 1], la: [items - 1, 0] }[anna];
    const wins = [from, to].map((mine) => others(state).map((it, i) => it + (i === mine)));
    const [before, after] = wins.map((each) => law(each.map((it) => (it * epsilon) / scales[noise])));
    const orders = before.map(({ order, chance }, i) => ({ order, before: chance, after: after[i].chance }));
    for (const it of orders) it.ratio = Math.log(it.after / it.before);
    const worst = orders.reduce((best, it) => (Math.abs(it.ratio) > Math.abs(best.ratio) + 1e-9 ? it : best));
    const loss = Math.abs(worst.ratio);
    return { wins, orders, worst, loss, broken: loss > epsilon * (1 + 1e-9) };
  };

  const significant = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
  const say = (x) => (x >= 1e-4 ? significant.format(x) : x.toExponential(1).replace("e-", "e−"));
  const unbroken = (order) => order.replaceAll(" ", "\u00a0");
  const people = (n) => `${n} voter${n > 1 ? "s" : ""}`;
  const shown = ({ orders, worst }) => {
    const likely = orders.toSorted((a, b) => b.before + b.after - a.before - a.after).slice(0, orders.length > 6 ? SHOWN : 6);
    return likely.includes(worst) ? likely : [...likely, worst];
  };

  /* The needle stands upright at what is promised, and lies on the right at twice that. */
  const dial = ({ loss, broken }, { epsilon }, { el }) => {
    const at = (share, radius) => {
      const angle = Math.PI * (1 - share / 2);
      return [110 + radius * Math.cos(angle), 108 - radius * Math.sin(angle)].map((it) => it.toFixed(1));
    };
    const arc = (from, to, kind) => el("path", { class: kind, d: `M${at(from, 84)} A84 84 0 0 1 ${at(to, 84)}` });
    const word = (share, text, anchor) => el("text", { x: at(share, 98)[0], y: at(share, 98)[1], "text-anchor": anchor }, text);
    const [x2, y2] = at(Math.min(loss / epsilon, 2), 78);
    return el("svg", { viewBox: "0 0 220 134", class: "promise-dial", role: "img", "aria-label": `Privacy loss ${say(loss)}, promised ${epsilon}` },
      arc(0, 1, "promise-kept"), arc(1, 2, "promise-more"),
      word(1, `promised ${epsilon}`, "middle"),
      el("text", { x: 26, y: 126, "text-anchor": "middle" }, "0"), el("text", { x: 194, y: 126, "text-anchor": "middle" }, String(2 * epsilon)),
      el("line", { x1: 110, y1: 108, x2, y2 }), el("circle", { cx: 110, cy: 108, r: 5 }),
      el("text", { x: 110, y: 130, "text-anchor": "middle", class: broken ? "promise-no" : "promise-yes" }, `loss ${say(loss)}: ${broken ? "broken" : "kept"}`));
  };

  const bars = (result, { epsilon }, { el }) => {
    const rows = shown(result);
    const most = Math.max(...rows.flatMap((it) => [it.before, it.after]));
    const bar = (when, chance) => el("span", { class: `promise-${when}`, style: `--share: ${(chance / most).toFixed(4)}` }, el("i"), say(chance));
    return el("div", { class: "promise-orders" },
      el("p", {}, el("span", { class: "promise-before" }, el("i")), " before, ", el("span", { class: "promise-after" }, el("i")), ` after Anna's change; ×, ÷ how many times as likely or unlikely: at most ${say(Math.exp(epsilon))} is promised`),
      ...rows.map((it) => el("div", { class: Math.abs(it.ratio) > epsilon * (1 + 1e-9) ? "promise-over" : "" },
        el("b", {}, it.order, it === result.worst && rows.length > 2 ? " (tells most)" : ""),
        el("em", {}, `${it.ratio < 0 ? "÷" : "×"} ${say(Math.exp(Math.abs(it.ratio)))}`),
        el("span", { class: "promise-pair" }, bar("before", it.before), bar("after", it.after)))));
  };

  return {
    law,
    compute,
    draw: (view, result, state, tools) => {
      const { items, voters, noise } = state;
      if (result.broken && noise === "printed" && voters * 10 + items < (+view.dataset.least || Infinity)) view.dataset.least = voters * 10 + items;
      const least = +view.dataset.least;
      view.replaceChildren(
        tools.el("div", { class: "promise" },
          tools.el("div", {}, dial(result, state, tools), tools.el("p", { class: "promise-least" }, least ? `Smallest so far: ${people(Math.floor(least / 10))}, ${least % 10} items` : "Not broken yet")),
          bars(result, state, tools)));
    },
    say: ({ worst, loss, broken, wins }, { items, voters, noise, epsilon }) =>
      `${broken ? "Broken" : "Kept"}. ${people(voters)}, ${items} items, wins ${wins[0].join(", ")} before and ${wins[1].join(", ")} after. ` +
      `The order ${unbroken(worst.order)} has probability ${say(worst.before)} before and ${say(worst.after)} after, ${say(Math.exp(loss))} times as ${worst.ratio < 0 ? "un" : ""}likely; the promise allows ${say(Math.exp(epsilon))}. ` +
      `The privacy loss is ${say(loss)}, promised ${epsilon}.` +
      (noise === "right" ? " With this noise no data break it: it covers both wins that Anna moves." : ""),
    table: (result) => [
      ["order", "before", "after", "log ratio"],
      ...shown(result).map((it) => [it.order, say(it.before), say(it.after), it.ratio.toFixed(3).replace("-", "−")]),
    ],
    act: (value, state, data) => data.states[value],
  };
})());
