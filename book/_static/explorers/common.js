/* What all explorers share: controls to state, state to page address, picture, words for a screen reader, and a table.

   A kind is {compute(state, data), draw(view, result, state, tools), say(result, state), table(result, state)}: `compute` is
   pure, and all that is shown is made of what it returns. `table` gives rows of cells, heads first. `act`, where a kind
   has buttons, is called with the button's value and may return changes to the state. */
globalThis.explorers ??= (() => {
  const kinds = {};
  const mounted = {};
  const SVG = "http://www.w3.org/2000/svg";

  const define = (kind, it) => void (kinds[kind] = it);

  /* An element of SVG or HTML: el("rect", {x: 1}), el("p", {}, "text"). */
  const svg = new Set(["svg", "g", "rect", "line", "path", "circle", "text", "tspan", "title", "desc", "polyline"]);
  const el = (tag, attributes = {}, ...children) => {
    const made = svg.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };

  const number = (text) => (text !== "" && Number.isFinite(+text) ? +text : text);
  const controls = (form) => [...form.elements].filter((it) => it.name && it.type !== "submit" && it.type !== "button");
  /* A range whose steps are not even says its values: <input type="range" data-values="0.1 0.3 1">. */
  const valueOf = (it) =>
    it.type === "checkbox" ? it.checked : it.dataset.values ? number(it.dataset.values.split(" ")[it.value]) : number(it.value);
  const read = (form) =>
    Object.fromEntries(controls(form).filter((it) => it.type !== "radio" || it.checked).map((it) => [it.name, valueOf(it)]));
  const put = (form, state) => {
    for (const it of controls(form)) {
      if (!(it.name in state)) continue;
      const value = state[it.name];
      if (it.type === "checkbox") it.checked = value === true || value === "true";
      else if (it.type === "radio") it.checked = it.value === String(value);
      else if (it.dataset.values) {
        const place = it.dataset.values.split(" ").map(number).indexOf(number(String(value)));
        if (place >= 0) it.value = place;
      } else if (it.tagName !== "SELECT" || [...it.options].some((option) => option.value === String(value))) it.value = value;
    }
  };
  const announceValue = (form) => {
    for (const it of controls(form).filter((each) => each.type === "range")) {
      const shown = it.dataset.words?.split("|")[it.value - it.min] ?? String(valueOf(it));
      const value = it.closest("label")?.querySelector("b");
      if (value) value.textContent = shown;
      it.setAttribute("aria-valuetext", shown);
    }
  };

  const fromAddress = (name) => {
    const asked = {};
    for (const [key, value] of new URLSearchParams(location.search)) {
      if (key.startsWith(`${name}.`)) asked[key.slice(name.length + 1)] = value;
    }
    return asked;
  };
  const toAddress = (name, state, first) => {
    const asked = new URLSearchParams(location.search);
    for (const key of [...asked.keys()]) if (key.startsWith(`${name}.`)) asked.delete(key);
    for (const [key, value] of Object.entries(state)) if (value !== first[key]) asked.set(`${name}.${key}`, value);
    const query = asked.toString();
    history.replaceState(history.state, "", `${location.pathname}${query && `?${query}`}${location.hash}`);
  };

  const tabulate = (rows) => {
    const [heads, ...rest] = rows;
    const line = (cells, tag) => el("tr", {}, ...cells.map((it, i) => (tag === "th" || !i ? el("th", { scope: tag === "th" ? "col" : "row" }, String(it)) : el("td", {}, String(it)))));
    return el("table", {}, el("thead", {}, line(heads, "th")), el("tbody", {}, ...rest.map((it) => line(it, "td"))));
  };

  const mount = (name, data) => {
    const box = document.getElementById(name);
    const kind = kinds[box.dataset.explorer];
    const form = box.querySelector("form");
    const [view, said, text] = [".explorer-view", ".explorer-said", ".explorer-table"].map((it) => box.querySelector(it));
    const first = read(form);
    let speaking;
    const it = {
      compute: (state) => kind.compute({ ...read(form), ...state }, data),
      get state() {
        return read(form);
      },
      set: (state) => (put(form, state), show()),
    };
    const show = (quiet = false) => {
      const state = read(form);
      const result = kind.compute(state, data);
      announceValue(form);
      kind.draw(view, result, state, { el, data, set: it.set });
      text?.replaceChildren(tabulate(kind.table(result, state, data)));
      clearTimeout(speaking); /* one sentence when the hand rests, not one a step */
      speaking = setTimeout(() => {
        const words = kind.say(result, state, data);
        if (said.textContent !== words) said.textContent = words;
        if (!quiet) toAddress(name, state, first);
      }, quiet ? 0 : 250);
      it.result = result;
    };
    form.addEventListener("input", () => show());
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(show));
    form.addEventListener("click", (event) => {
      const button = event.target.closest("button[value]");
      if (button && kind.act) {
        put(form, kind.act(button.value, read(form), data) ?? {});
        show();
      }
    });
    const asked = fromAddress(name);
    put(form, asked);
    if (Object.keys(asked).length) box.closest("details")?.setAttribute("open", "");
    form.hidden = false;
    box.querySelector("details").open = false; /* without a script it is all there is */
    box.classList.add("explorer-live");
    mounted[name] = it;
    show(true);
    return it;
  };

  return { define, mount, el, get: (name) => mounted[name] };
})();
