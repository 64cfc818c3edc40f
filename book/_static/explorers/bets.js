/* Bet against a black box. What it sends is drawn from tables by a counter, so that an address plays the same game again.

   A game is what its address says: "7-3_100x129s30p2_10x1s98p1_broken_shown" is deal 7, box 3; 100 rounds on the sheets of
   mask 129 with a stake of 30 %, pair 2; 10 rounds of another bet; what the player said; and that the box was opened. Games
   of other boxes follow after "~": who comes back to a box finds it as it was left. */
(() => {
  const mix = (x) => {
    x = Math.imul(x ^ (x >>> 16), 0x21f0aaad);
    x = Math.imul(x ^ (x >>> 15), 0x735a2d97);
    return (x ^ (x >>> 15)) >>> 0;
  };
  /* 32 bits that follow from whole numbers, as if by chance. */
  const hash = (...keys) => keys.reduce((x, key) => mix((x + key + 0x9e3779b9) | 0), 0);

  /* The boxes in the order of a deal. */
  const dealt = (deal, count) => {
    const order = Array.from({ length: count }, (_, i) => i);
    for (let i = count - 1; i > 0; i--) {
      const j = hash(deal, i) % (i + 1);
      [order[i], order[j]] = [order[j], order[i]];
    }
    return order;
  };

  /* Which sheet comes in a round, mixed up before; `stream` is that of a deal, a box and a ranking. */
  const sheet = (mixed, stream, bounds) => {
    const drawn = mix((mixed + stream) | 0);
    let at = 0;
    while (drawn >= bounds[at]) at++;
    return at;
  };

  const SAID = ["broken", "kept"];
  const judged = (done) => SAID.find((it) => done.includes(it));
  const BET = /^(\d{1,6})x(\d{1,3})s(\d{1,2})p([1-4])$/;
  /* The games of an address: a place, which is a deal and a box, and what was done there. */
  const games = (state) => {
    const all = String(state.game).split("~").map((it) => it.split("_"));
    return new Map(all.filter(([place]) => /^\d+-\d+$/.test(place)).map(([place, ...done]) => [place, done]));
  };
  const placeOf = ({ deal, box }) => `${deal}-${box}`;

  const parsed = (state, data) => {
    const done = games(state).get(placeOf(state)) ?? [];
    const bets = [];
    let left = data.most;
    for (const found of done.map((it) => BET.exec(it)).filter(Boolean)) {
      const [asked, mask, stake, pair] = found.slice(1).map(Number);
      const rounds = Math.min(asked, left);
      bets.push({ rounds, mask: mask & 255, stake: stake / 100, other: (pair + 1) >> 1, swapped: pair % 2 === 0 });
      left -= rounds;
    }
    return { bets, left, said: judged(done), shown: done.includes("shown") };
  };
  const boxAt = (place, data) => {
    const [deal, box] = place.split("-").map(Number);
    return data.boxes[dealt(deal, data.boxes.length)[box - 1]];
  };
  const isRight = (said, box) => (said === "broken") === box.broken;
  /* Of the boxes that were judged and opened: how many rightly, and all. */
  const scored = (state, data) => {
    const played = [...games(state)].map(([place, done]) => ({ box: boxAt(place, data), said: judged(done), done }));
    const opened = played.filter(({ box, said, done }) => box && said && done.includes("shown"));
    return [opened.filter(({ box, said }) => isRight(said, box)).length, opened.length];
  };
  const maskOf = (state, data) => data.sheets.reduce((mask, name, i) => mask | (state[name] ? 1 << i : 0), 0);

  /* Log factors of wealth by x (the event under the one ranking) and y (under the other). */
  const factors = (stake, { epsilon, delta }) => {
    const lost = Math.exp(epsilon);
    const share = stake / (lost + delta);
    return [0, 1].map((x) => [0, 1].map((y) => Math.log1p(share * (x - lost * y - delta))));
  };

  const PICTURED = 300; /* steps of the line of wealth */
  const play = (state, data, box, { bets, left }) => {
    const streams = data.rankings.map((_, i) => hash(state.deal, state.box, i));
    const seen = data.rankings.map(() => new Array(data.sheets.length).fill(0));
    const goal = Math.log(data.goal);
    const end = data.most - left;
    const stride = Math.max(1, Math.ceil(end / PICTURED));
    const path = [[0, 0]];
    let [round, log, most, reached, low, high] = [0, 0, 0, 0, 0, 0];
    for (const { rounds, mask, stake, other, swapped } of bets) {
      const gains = factors(stake, data);
      const [one, two] = swapped ? [other, 0] : [0, other];
      for (const until = round + rounds; round < until; ) {
        round++;
        const mixed = mix(round);
        const a = sheet(mixed, streams[one], box.laws[one]);
        const b = sheet(mixed, streams[two], box.laws[two]);
        seen[one][a]++;
        seen[two][b]++;
        log += gains[(mask >> a) & 1][(mask >> b) & 1];
        if (log > most) {
          most = log;
          if (!reached && log >= goal) reached = round;
        }
        low = Math.min(low, log);
        high = Math.max(high, log);
        if (round % stride === 0 || round === end) {
          path.push(...(stride > 1 ? [[round, low], [round, high]] : []), [round, log]);
          low = high = log;
        }
      }
    }
    return { log, most, reached, rounds: round, left, seen, path };
  };

  const total = (counts) => counts.reduce((sum, it) => sum + it, 0);
  /* How often the ticked sheets came, for the ranking that is to make them likelier and for the other. */
  const shares = (seen, state, data) =>
    (state.likelier ? [state.other, 0] : [0, state.other]).map((at) => ({
      name: data.rankings[at],
      share: total(seen[at].filter((_, i) => state[data.sheets[i]])) / total(seen[at]),
    }));
  /* What was played does not change with the bet to come. */
  let memo = {};
  const compute = (state, data) => {
    const { bets, left, said, shown } = parsed(state, data);
    const box = boxAt(placeOf(state), data);
    const key = `${placeOf(state)}~${state.game}`;
    if (memo.key !== key) memo = { key, played: play(state, data, box, { bets, left }) };
    return { ...memo.played, box, said, shown, score: scored(state, data), ticked: shares(memo.played.seen, state, data) };
  };

  const act = (button, state, data) => {
    if (button === "again") return { deal: (state.deal % data.deals) + 1, box: 1, game: "" };
    const played = games(state);
    const done = played.get(placeOf(state)) ?? [];
    if (button === "release") {
      const rounds = Math.min(state.step, parsed(state, data).left);
      if (!rounds) return {};
      const bet = `x${maskOf(state, data)}s${state.stake}p${2 * state.other - 1 + state.likelier}`;
      const last = done.findLastIndex((it) => BET.test(it));
      if (last >= 0 && done[last].endsWith(bet)) done[last] = `${parseInt(done[last]) + rounds}${bet}`;
      else done.splice(last + 1, 0, `${rounds}${bet}`);
    } else if (button === "shown") {
      if (!done.includes("shown")) done.push("shown");
    } else if (!done.includes("shown")) {
      done.splice(0, done.length, ...done.filter((it) => !SAID.includes(it)), button);
    }
    played.set(placeOf(state), done);
    return { game: [...played].map(([place, it]) => [place, ...it].join("_")).join("~") };
  };

  /* --- what is seen and said --- */

  const count = (x) => x.toLocaleString("en");
  const power = (ten) => `10${[...String(ten)].map((it) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(it)]).join("")}`;
  const wealth = (log) => {
    const x = Math.exp(log);
    if (x >= 1e6 || x < 1e-3) return power(Math.round(log / Math.LN10));
    return x >= 100 ? count(Math.round(x)) : String(+x.toPrecision(3));
  };

  const percent = (x) => `${x < 0.1 ? +(100 * x).toPrecision(2) : Math.round(100 * x)}\u00a0%`;
  const compared = ([likely, rare], { epsilon }) => {
    const other = rare.share ? `${percent(rare.share)} for ${rare.name}, ${(likely.share / rare.share).toFixed(2)} times as many` : `none for ${rare.name}`;
    return `Of the sheets seen, those ticked are ${percent(likely.share)} for ${likely.name} and ${other}; ${Math.exp(epsilon).toFixed(2)} times is allowed.`;
  };

  const say = (result, state, data) => {
    const { rounds, reached, said, shown, box, ticked } = result;
    const words = [];
    if (!rounds) words.push(`Box ${state.box} has sent nothing yet: tick sheets and release, or release first to see what comes.`);
    else {
      words.push(`Box ${state.box}, ${count(rounds)} rounds: your wealth is ${wealth(result.log)}, at most ${wealth(result.most)} so far.`);
      words.push(
        reached
          ? `It reached ${count(data.goal)} in round ${count(reached)}: the promise is called broken.`
          : `It has not reached ${count(data.goal)}: nothing is proved.`,
      );
      if (ticked[0].share > 0 && ticked[1].share >= 0) words.push(compared(ticked, data));
      if (!result.left) words.push("The box is empty.");
    }
    const claims = { broken: "broken", kept: "it keeps its promise" };
    if (said) words.push(`You say: ${claims[said]}.`);
    if (shown) {
      const verdict = !said ? "" : isRight(said, box) ? "You are right. " : "You are wrong. ";
      const [first, ...others] = data.rankings;
      const losses = others.map((it, i) => `${box.losses[i]} for ${first} and ${it}`).join(", ");
      words.push(`${verdict}Inside: ${box.inside[0].toLowerCase()}${box.inside.slice(1)}. Its loss: ${losses}; promised: ${data.epsilon}.`);
      const [right, opened] = result.score;
      if (opened > 1) words.push(`Boxes judged rightly: ${right} of ${opened}.`);
    }
    return words.join(" ");
  };

  const table = ({ seen }, state, data) => {
    const [one, two] = [0, state.other].map((at) => ({ name: data.rankings[at], counts: seen[at], sum: total(seen[at]) }));
    const head = ["Sheet", "Ticked", ...[one, two].map((it) => `Sent for ${it.name}, of ${count(it.sum)}`)];
    return [head, ...data.sheets.map((name, i) => [[...name].join(" "), state[name] ? "yes" : "", count(one.counts[i]), count(two.counts[i])])];
  };

  const write = (el, x, y, words, anchor = "start", size = 12) => el("text", { x, y, "font-size": size, "text-anchor": anchor }, words);
  const canvas = (el, width, height, title, label) => {
    const svg = el("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label });
    svg.append(el("text", { x: 0, y: 13, "font-size": 13, "font-weight": 600 }, title));
    return svg;
  };

  const drawWealth = (el, { path, rounds, reached }, data, width) => {
    const [left, right, top, height, bottom] = [52, width - 10, 22, 200, 34];
    const tens = path.map(([, log]) => log / Math.LN10);
    const goal = Math.log10(data.goal);
    const low = Math.max(-9, Math.min(-1, Math.floor(Math.min(...tens))));
    const high = Math.min(12, Math.max(goal + 1, Math.ceil(Math.max(...tens))));
    const end = Math.max(rounds, 10);
    const x = (round) => left + ((right - left) * round) / end;
    const y = (ten) => top + (height * (high - Math.min(high, Math.max(low, ten)))) / (high - low);
    const svg = canvas(el, width, top + height + bottom, "Wealth", "Wealth after every round, on a log scale");
    const every = Math.ceil((high - low) / 8);
    for (let ten = Math.ceil(low / every) * every; ten <= high; ten += every) {
      const label = Math.abs(ten) > 4 ? power(ten) : ten < 0 ? String(10 ** ten) : count(10 ** ten);
      svg.append(
        el("line", { x1: left, x2: right, y1: y(ten), y2: y(ten), stroke: "currentcolor", "stroke-opacity": 0.15 }),
        write(el, left - 6, y(ten) + 4, label, "end"),
      );
    }
    const points = path.map(([round], i) => `${x(round).toFixed(1)},${y(tens[i]).toFixed(1)}`).join(" ");
    const bad = "var(--explorer-bad)";
    svg.append(
      el("line", { x1: left, x2: right, y1: y(goal), y2: y(goal), stroke: bad, "stroke-width": 2, "stroke-dasharray": "6 4" }),
      write(el, right, y(goal) - 5, "called broken", "end"),
      el("polyline", { points, fill: "none", stroke: "var(--explorer-one)", "stroke-width": 2, "stroke-linejoin": "round" }),
      el("circle", { cx: x(rounds), cy: y(tens.at(-1)), r: 4, fill: "var(--explorer-one)" }),
      write(el, left, top + height + 16, "0"),
      write(el, right, top + height + 16, count(end), "end"),
      write(el, (left + right) / 2, top + height + 28, "rounds", "middle"),
    );
    if (reached) svg.append(el("circle", { cx: x(reached), cy: y(goal), r: 5, fill: bad }));
    return svg;
  };

  const drawSeen = ({ el, set }, { seen }, state, data, width) => {
    const [top, height, bottom] = [56, 110, 24];
    const base = top + height;
    const shown = [0, state.other].map((at, i) => {
      const sum = total(seen[at]);
      return { name: data.rankings[at], colour: `var(--explorer-${["one", "two"][i]})`, sum, shares: seen[at].map((it) => (sum ? it / sum : 0)) };
    });
    const largest = Math.max(0.2, ...shown.flatMap((it) => it.shares));
    const label = "How often each sheet was sent, by Anna's ranking; numbers in the table";
    const svg = canvas(el, width, base + bottom, "Sent so far if Anna ranks …, in percent", label);
    shown.forEach(({ name, colour, sum }, i) => {
      const x = i * Math.min(160, width / 2);
      svg.append(el("rect", { x, y: 22, width: 11, height: 11, fill: colour }), write(el, x + 16, 32, `${name} (${count(sum)} sheets)`));
    });
    const step = width / data.sheets.length;
    const bar = Math.min(24, step / 2 - 3);
    data.sheets.forEach((name, i) => {
      const [middle, fill] = [step * (i + 0.5), state[name] ? "var(--explorer-shade)" : "transparent"];
      const group = el("g", { style: "cursor: pointer" });
      group.append(el("rect", { x: step * i + 1, y: top - 4, width: step - 2, height: height + bottom + 4, rx: 4, fill }));
      shown.forEach(({ colour, shares }, side) => {
        const tall = (height * shares[i]) / largest;
        const x = middle + (side ? 1 : -1 - bar);
        group.append(el("rect", { x, y: base - tall, width: bar, height: tall, fill: colour }));
        if (tall) group.append(write(el, x + bar / 2, base - tall - 3, (100 * shares[i]).toFixed(0), "middle", 10));
      });
      group.append(write(el, middle, base + 17, name, "middle"));
      group.addEventListener("click", () => set({ [name]: !state[name] }));
      svg.append(group);
    });
    return svg;
  };

  const draw = (view, result, state, { el, data, set }) => {
    const width = Math.max(280, Math.min(680, view.clientWidth || 680));
    view.replaceChildren(drawWealth(el, result, data, width), drawSeen({ el, set }, result, state, data, width));
  };

  explorers.define("bets", { compute, act, draw, say, table });
})();
