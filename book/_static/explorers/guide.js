/* Which method, which epsilon, what does it cost: what a plan takes, and what the arena measured of it. */
(() => {
  const QUESTIONS = {
    ballots: { ranking: "consensus", winner: "winner", agreement: "agreement" },
    pairs: { ranking: "ranking", strengths: "strengths" },
    secret: { ranking: "ranking", strengths: "strengths" },
    counts: { topk: "topk", longer: "topk" },
  };
  const GIVES = {
    ballots: "Ballots give an order, a winner, or an answer whether people agree",
    pairs: "Answers about two items give an order, or strengths",
    secret: "Answers about two items give an order, or strengths",
    counts: "Counts give the most frequent items",
  };
  const BARS = 2; /* standard errors of a difference within which two losses are the same */
  const ITEMS = 0, PEOPLE = 1, ANSWERS = 2, K = 3, GAP = 4;
  const count = (it) => it.toLocaleString("en-US");
  const classOf = (method) => method.split("(")[0];
  const worse = (one, other) => one.mean - other.mean > BARS * Math.hypot(one.se, other.se);
  const least = (rows) => rows.reduce((best, it) => (best && best.mean <= it.mean ? best : it), null);

  /* The measured size that is nearest, by the ratio of items and by that of people, of which less depends; of those that
     do not flatter (by fewer items and more people) where there is one. */
  const sizeOf = (question, state, data) => {
    const far = (size) => Math.abs(Math.log(size[ITEMS] / state.items)) + Math.abs(Math.log(size[PEOPLE] / state.people)) / 2;
    const alike = (size) => size[ITEMS] === state.items && size[PEOPLE] === state.people;
    const flatters = (size) => !alike(size) && size[ITEMS] <= state.items && size[PEOPLE] >= state.people;
    const harder = (size) => size[ITEMS] >= state.items && size[PEOPLE] <= state.people;
    const yours = (size) => (flatters(size) ? "more" : harder(size) ? "no more" : "more or less");
    const sizes = data.sizes[question].map((size, at) => ({ size, at, alike: alike(size), flatters: flatters(size), yours: yours(size) }));
    const longer = ({ size, at }) => at > 0 && size[ITEMS] === sizes[at - 1].size[ITEMS] && size[PEOPLE] === sizes[at - 1].size[PEOPLE];
    const fit = sizes.filter((it) => longer(it) === (state.want === "longer"));
    const fair = fit.filter((it) => !it.flatters);
    return (fair.length ? fair : fit).reduce((best, it) => (far(it.size) < far(best.size) ? it : best));
  };
  const whole = (typed, least, most, usual) => Math.min(Math.max(Math.round(typed === "" || Number.isNaN(Number(typed)) ? usual : Number(typed)), least), most);
  const campsMatter = (question) => question === "consensus" || question === "winner";
  const measured = (question, at, epsilon, state, data) => {
    const flat = data.measured[question][at][state.trust === "nobody" ? 1 : 0][epsilon];
    const camps = state.camps === "yes" && campsMatter(question);
    const rows = [];
    for (let i = 0; i < flat.length; i += 6) {
      const [method, spends, ...losses] = flat.slice(i, i + 6);
      const [supposed, other] = [0, 2].map((j) => ({ mean: losses[j] / 1e6, se: losses[j + 1] / 1e6 }));
      const row = { use: data.methods[method], spends: spends === 1, ...(camps ? other : supposed) };
      if (!camps) row.worst = other.mean > supposed.mean ? other : supposed;
      if ((row.spends && state.delta === "no") || (state.have === "secret" && classOf(row.use) === "PerturbedMLE")) continue;
      rows.push(row);
    }
    return rows;
  };
  const planned = (question, at, epsilon, state, data) => {
    const told = state.have === "secret" ? "secret" : state.camps === "yes" && campsMatter(question) ? "camps" : "";
    const key = (delta) => [question, told, state.trust, delta].filter(Boolean).join(" ");
    const without = data.plans[key("no")][at][epsilon], needed = without[3];
    const [use, spends, error, , second, secondSpends, secondError] = data.plans[key(state.delta)]?.[at][epsilon] ?? without;
    const choice = (method, delta, loss) => ({ use: data.methods[method], spends: delta === 1, error: loss / 1e6 });
    return { best: choice(use, spends, error), second: second === undefined ? null : choice(second, secondSpends, secondError), needed: needed || Infinity };
  };
  const find = (rows, choice) => {
    const alike = rows.filter((it) => it.use === choice.use).sort((one, other) => one.spends - other.spends);
    return choice.spends ? alike.at(-1) : alike[0];
  };
  /* No plan is asked for strengths: the method of the guide's table where it is as good as the best, else the best. */
  const strongest = (rows, table) => {
    const best = least(rows);
    const chosen = least(rows.filter((it) => classOf(it.use) === table && !worse(it, best))) ?? best;
    return { best: chosen, second: least(rows.filter((it) => classOf(it.use) !== classOf(chosen.use))), needed: null };
  };
  const taken = (question, at, epsilon, state, data) => {
    const rows = measured(question, at, epsilon, state, data);
    const table = data.table[`${question} ${state.trust} ${state.delta}`];
    const plan = question === "strengths" ? strongest(rows, table) : planned(question, at, epsilon, state, data);
    const [best, second] = [plan.best, plan.second].map((it) => it && { error: null, ...it, ...find(rows, it) });
    return { rows, table, best, second, needed: plan.needed };
  };

  const callOf = (question, { at, size, alike }, best, state, data) => {
    const answers = Math.min(size[ANSWERS], question === "topk" ? state.items : (state.items * (state.items - 1)) / 2);
    const told = { items: state.items, persons: state.people, epsilon: state.epsilon };
    if (question === "strengths") {
      const ridge = best.use.includes("ridge=best") ? data.ridges[at][data.epsilons.indexOf(state.epsilon)] : 1;
      const noise = best.use.match(/, (\w+)\)/)?.[1];
      const rest = classOf(best.use) === "PerturbedMLE" ? `graph="public", ridge=${ridge}` : `design="once", noise="${noise}"${best.spends ? ", delta=1e-06" : ""}`;
      return `dprank.${classOf(best.use)}.calibrated(epsilon=${state.epsilon}, n_items=${state.items}, per_person=${answers}, ${rest})`;
    }
    const words = [`dprank plan ${question}`, ...Object.entries(told).map(([key, it]) => `--${key} ${it}`)];
    if (question === "ranking") words.push(`--answers ${answers}`);
    if (question === "topk") words.push(`--per-person ${answers}`, `--k ${Math.min(size[K], state.items - 1)}`, "--no-ordered");
    if (size[GAP] && alike) words.push(`--gap ${size[GAP]}`);
    if (question === "ranking" && state.have === "pairs" && state.trust === "curator") words.push("--public-graph");
    if (state.delta === "yes") words.push("--delta 1e-06");
    if (state.trust === "nobody") words.push("--trust nobody");
    if (state.camps === "yes" && campsMatter(question)) words.push("--camps 0.6");
    return words.join(" ");
  };

  /* Why nothing was measured, or "". */
  const missing = (question, state) => {
    if (!question) return `${GIVES[state.have]}, and nothing else that is measured here.${state.have === "ballots" && ["topk", "longer"].includes(state.want) ? " For a short list take an order, and show as much of it as you like: that costs nothing more." : ""}`;
    if (state.protect === "answer") {
      return QUESTIONS.pairs[state.want] && state.have !== "ballots" ? "Nothing was measured for one answer alone. Whoever protects a person protects all their answers; for less, ask the planner with --protect answer." : "Here a person's data count as one: protect the person.";
    }
    if (state.trust === "nobody" && (question === "winner" || question === "strengths")) return `Where nobody is trusted, nothing here ${question === "winner" ? "names a winner alone" : "gives strengths"}: ask for an order.`;
    if (state.trust === "nobody" && state.have === "secret") return "Where nobody is trusted, everybody may know who was asked what; only the answers are hidden.";
    return "";
  };

  const compute = (typed, data) => {
    const state = { ...typed, items: whole(typed.items, 2, 1000, 20), people: whole(typed.people, 2, 1e7, 400) };
    const question = QUESTIONS[state.have][state.want];
    const why = missing(question, state);
    if (why) return { why, rows: [], line: [] };
    const found = sizeOf(question, state, data);
    const here = (epsilon) => taken(question, found.at, epsilon, state, data);
    const it = here(data.epsilons.indexOf(state.epsilon));
    const [how, needs] = data.how[classOf(it.best.use)];
    const better = it.rows.filter((row) => worse(it.best, row));
    const call = callOf(question, found, it.best, state, data);
    return { why, question, size: found.size, alike: found.alike, yours: found.yours, how, needs, better, call, line: data.epsilons.map((_, epsilon) => here(epsilon).best), ...it };
  };

  const loss = (x, question) => (question === "strengths" ? x.toFixed(2) : (100 * x).toFixed(1));
  const measuredAs = (it, question) => `${loss(it.mean, question)} ± ${loss(it.se, question)}`;
  const asked = (result, state) => {
    const { size, question } = result;
    const each = question === "topk" ? `, the top ${size[K]} of up to ${size[ANSWERS]} items each` : size[ANSWERS] ? `, ${size[ANSWERS]} answer${size[ANSWERS] > 1 ? "s" : ""} each` : "";
    return `${count(size[ITEMS])} items, ${count(size[PEOPLE])} people${each}, ε = ${state.epsilon}${result.alike ? "" : ` (the nearest that was measured; with yours expect ${result.yours})`}`;
  };
  const lost = (it, question, data) => `${measuredAs(it, question)} ${data.means[question]}`;
  const people = ({ needed, question, alike, size }) =>
    needed === null ? "" : ` Without a δ${question === "agreement" ? " and at a lead of 0.1" : ""}, one error in a hundred${alike ? "" : ` of ${count(size[ITEMS])} items`} takes ${needed === Infinity ? "more than a hundred million" : count(Number(needed.toPrecision(2)))} people.`;
  const say = (result, state, data) =>
    result.why || `${asked(result, state)}: ${result.best.use}, ${lost(result.best, result.question, data)}.${result.second ? ` Second: ${result.second.use}, ${lost(result.second, result.question, data)}.` : " Nothing else answers this."}${people(result)}`;

  const table = (result, state, data) => {
    const unit = result.why ? "" : result.question === "strengths" ? "" : " (%)";
    const cells = (it) => [it.use + (it.spends ? ", with δ" : ""), loss(it.mean, result.question), loss(it.se, result.question), it.worst ? loss(it.worst.mean, result.question) : ""];
    const role = (it) => (same(it, result.best) ? "take" : result.second && same(it, result.second) ? "second" : "");
    return [["method", `loses${unit}`, "±", `on the worst people${unit}`, ""], ...sorted(result.rows).map((it) => [...cells(it), role(it)])];
  };
  const same = (one, other) => one.use === other.use && one.spends === other.spends;
  const sorted = (rows) => [...rows].sort((one, other) => one.mean - other.mean);
  /* The best of each class, and whatever is recommended. */
  const shown = (result) =>
    sorted(result.rows).filter((it, at, all) => same(it, result.best) || (result.second && same(it, result.second)) || (all.findIndex((other) => classOf(other.use) === classOf(it.use)) === at && ![result.best, result.second].some((other) => other && classOf(other.use) === classOf(it.use))));

  const WIDE = 340;
  const dots = (result, el) => {
    const rows = shown(result), left = 8, right = WIDE - 8, bottom = 36 * rows.length + 6;
    const most = Math.max(...rows.flatMap((it) => [it.mean + BARS * it.se, it.worst?.mean ?? 0]), 0.01);
    const x = (value) => left + (Math.min(Math.max(value, 0), most) / most) * (right - left);
    const made = el("svg", { viewBox: `0 0 ${WIDE} ${bottom + 34}`, width: WIDE, "aria-hidden": "true", class: "guide-dots" });
    rows.forEach((it, at) => {
      const y = 36 * at + 26, kind = same(it, result.best) ? "guide-best" : "guide-other";
      made.append(el("text", { x: left, y: y - 11, class: kind }, it.use));
      if (it.worst) made.append(el("line", { x1: x(it.mean), x2: x(it.worst.mean), y1: y, y2: y, class: "guide-reach" }), el("circle", { cx: x(it.worst.mean), cy: y, r: 3.5, class: `${kind} guide-worst` }));
      made.append(el("line", { x1: x(it.mean - BARS * it.se), x2: x(it.mean + BARS * it.se), y1: y, y2: y, class: kind }), el("circle", { cx: x(it.mean), cy: y, r: 4.5, class: kind }));
    });
    made.append(el("line", { x1: left, x2: right, y1: bottom, y2: bottom, class: "guide-axis" }));
    for (const share of [0, 0.5, 1]) made.append(el("text", { x: x(share * most), y: bottom + 14, "text-anchor": ["start", "middle", "end"][2 * share] }, loss(share * most, result.question)));
    return made;
  };
  const curve = (result, state, data, el) => {
    const left = 40, right = WIDE - 12, top = 10, bottom = 130;
    const most = Math.max(...result.line.map((it) => it.mean + BARS * it.se), 0.01);
    const x = (at) => left + (at / (data.epsilons.length - 1)) * (right - left), y = (value) => bottom - (Math.min(Math.max(value, 0), most) / most) * (bottom - top);
    const made = el("svg", { viewBox: `0 0 ${WIDE} ${bottom + 24}`, width: WIDE, "aria-hidden": "true", class: "guide-curve" });
    for (const share of [0, 0.5, 1]) made.append(el("line", { x1: left, x2: right, y1: y(share * most), y2: y(share * most), class: "guide-axis" }), el("text", { x: left - 5, y: y(share * most) + 4, "text-anchor": "end" }, loss(share * most, result.question)));
    data.epsilons.forEach((it, at) => made.append(el("text", { x: x(at), y: bottom + 18, "text-anchor": "middle", class: it === state.epsilon ? "guide-best" : "" }, String(it))));
    made.append(el("polyline", { points: result.line.map((it, at) => `${x(at)},${y(it.mean)}`).join(" "), class: "guide-best" }));
    result.line.forEach((it, at) => {
      const here = data.epsilons[at] === state.epsilon;
      made.append(el("line", { x1: x(at), x2: x(at), y1: y(it.mean - BARS * it.se), y2: y(it.mean + BARS * it.se), class: "guide-best" }), el("circle", { cx: x(at), cy: y(it.mean), r: here ? 6 : 3, class: "guide-best" }));
    });
    return made;
  };

  const notes = (result) => {
    const { best, question } = result, told = [];
    if (result.needs) told.push(`Take it only if ${result.needs}.`);
    if (best.worst && best.worst.mean > best.mean) told.push(`On the people for whom it does worst, ${measuredAs(best.worst, question)}.`);
    if (best.error !== null) told.push(`The plan expects ${loss(best.error, question)}${result.alike ? "" : " there"}.`);
    if (result.better.length) told.push(`In the arena ${least(result.better).use} lost less, ${measuredAs(least(result.better), question)}: people were not as the plan supposes.`);
    else told.push("In the arena no other method lost clearly less (by two standard errors).");
    if (result.table !== classOf(best.use)) told.push(`Over all sizes the table below names ${result.table}.`);
    return told.join(" ");
  };
  const copy = async (code) => {
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch { /* pages that are files have no clipboard */
      getSelection().selectAllChildren(code);
      document.execCommand("copy");
    }
  };
  const frame = (view, el) => {
    const button = el("button", { type: "button" }, "Copy the call");
    const code = el("code", { tabindex: "0" });
    button.addEventListener("click", () => copy(code).then(() => (button.textContent = "Copied")));
    view.replaceChildren(el("p", { class: "guide-use" }), el("p", { class: "guide-notes" }), el("p", { class: "guide-call" }, code, button), el("div", { class: "guide-pictures" }));
  };
  const picture = (title, made, el) => el("figure", {}, el("figcaption", {}, title), made);
  const draw = (view, result, state, { el, data }) => {
    if (!view.firstChild) frame(view, el);
    const [use, told, call, pictures] = view.children;
    view.classList.toggle("guide-grey", Boolean(result.why));
    call.hidden = Boolean(result.why);
    call.querySelector("button").textContent = "Copy the call";
    call.querySelector("code").textContent = result.call ?? "";
    if (result.why) {
      use.textContent = "Not measured";
      told.textContent = "";
      pictures.replaceChildren();
      return;
    }
    const crowd = state.camps === "yes" && campsMatter(result.question) ? "in two camps" : "as supposed";
    use.replaceChildren("Take ", el("strong", {}, result.best.use), `: ${result.how}. Expect ${lost(result.best, result.question, data)}, if people are ${crowd}${result.alike ? "" : `: so it was with ${count(result.size[ITEMS])} items and ${count(result.size[PEOPLE])} people, the nearest that was measured. With yours expect ${result.yours}: the planner knows`}.`);
    told.textContent = notes(result);
    const unit = data.means[result.question];
    pictures.replaceChildren(picture(`All methods at ε = ${state.epsilon}: ${unit}. Filled: as supposed. Hollow: on the worst people.`, dots(result, el), el), picture(`The one to take, against ε: ${unit}.`, curve(result, state, data, el), el));
  };

  explorers.define("guide", { compute, draw, say, table });
})();
