/* Filters, search and order of the scoreboard's table; without this script the table stands as it is. */
(() => {
  const board = document.currentScript?.closest(".scoreboard") ?? document.querySelector(".scoreboard");
  const form = board.querySelector("form");
  const body = board.querySelector("tbody");
  const filters = ["paper", "kind", "verdict", "impact"];
  const idle = new Set(["of", "the", "by", "in", "et", "al", "and"]);
  const order = (name) => [...form.elements[name].options].map((option) => option.value);
  const rows = [...body.rows].map((row, place) => ({
    row,
    place,
    head: `${row.cells[0].textContent} ${row.dataset.paper}`.toLowerCase(),
    all: [...row.cells].map((cell) => cell.textContent).join(" ").toLowerCase(),
  }));

  /* A word is found where a word begins with it; a number is found whole: 3.1 is neither 3.10 nor 13.1. */
  const finder = (word) => {
    const plain = word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    const end = /\d$/.test(word) ? "(?![\\w]|\\.\\w)" : "";
    return new RegExp(`(?<![\\w.])${plain}${end}`, "u");
  };

  const show = () => {
    const words = form.elements.text.value.toLowerCase().split(/[\s,:;()]+/).filter((word) => word && !idle.has(word));
    const wanted = words.map(finder);
    const by = form.elements.sort.value;
    const ranks = by ? order(by) : [];
    const rank = ({ row }) => (by ? ranks.indexOf(row.dataset[by]) || ranks.length : 0);
    let found = 0;
    for (const it of rows) {
      it.row.hidden = !(
        filters.every((key) => ["", it.row.dataset[key]].includes(form.elements[key].value)) &&
        wanted.every((word) => word.test(it.all))
      );
      it.late = !wanted.every((word) => word.test(it.head)); /* where it stands first, then where it is mentioned */
      found += !it.row.hidden;
    }
    const sorted = [...rows].sort((a, b) => a.late - b.late || rank(a) - rank(b) || a.place - b.place);
    body.append(...sorted.map((it) => it.row));
    form.querySelector("output").textContent = `${found} of ${rows.length}`;
  };

  for (const [key, value] of new URLSearchParams(location.search)) {
    if (form.elements[key]) form.elements[key].value = value;
  }
  form.hidden = false;
  board.classList.add("board-live");
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(show));
  show();
})();
