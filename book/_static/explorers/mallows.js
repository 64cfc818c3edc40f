/* Rankings of a Mallows law as permutation matrices: where every item is likely to stand, and one ranking. */
(() => {
  /* Numbers in [0, 1) that follow from a seed: the same ones everywhere (mulberry32). */
  const uniforms = (seed, many) => {
    let a = Math.imul(seed, 0x9e3779b1);
    return Array.from({ length: many }, () => {
      a = (a + 0x6d2b79f5) | 0;
      let t = Math.imul(a ^ (a >>> 15), 1 | a);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
    });
  };
  /* Items are inserted in the order of the centre. Law of how many of `before` items the next one falls behind. */
  const falls = (phi, before) => {
    const mass = Array.from({ length: before + 1 }, (_, behind) => phi ** behind);
    const all = mass.reduce((sum, it) => sum + it, 0);
    return mass.map((it) => it / all);
  };
  /* matrix[item][place]: each item enters at a place, and moves down where a later one enters at it or above. */
  const matrixOf = (phi, items) => {
    const matrix = [];
    for (let next = 0; next < items; next++) {
      const law = falls(phi, next);
      let above = 0;
      const entered = Array.from({ length: items }, (_, place) => (place <= next ? (above += law[next - place]) : 1));
      for (const row of matrix) {
        for (let place = next; place > 0; place--) row[place] = row[place] * (1 - entered[place]) + row[place - 1] * entered[place - 1];
        row[0] *= 1 - entered[0];
      }
      matrix.push(Array.from({ length: items }, (_, place) => (place <= next ? law[next - place] : 0)));
    }
    return matrix;
  };
  /* The place of every item, of the same numbers as `dprank.Mallows.sample` makes it; and how many pairs are turned. */
  const sampleOf = (phi, items, seed) => {
    const numbers = uniforms(seed, items), order = [];
    let distance = 0;
    for (let item = 0; item < items; item++) {
      const law = falls(phi, item);
      let left = numbers[items - 1 - item], behind = 0;
      while (behind < item && left >= law[behind]) left -= law[behind++];
      order.splice(item - behind, 0, item);
      distance += behind;
    }
    const places = [];
    order.forEach((item, place) => (places[item] = place));
    return { places, distance };
  };

  const compute = ({ phi, items, sample }) => {
    const expected = Array.from({ length: items }, (_, before) => falls(phi, before).reduce((sum, it, behind) => sum + it * behind, 0)).reduce((sum, it) => sum + it, 0);
    return { matrix: matrixOf(phi, items), expected, most: (items * (items - 1)) / 2, ...sampleOf(phi, items, sample) };
  };

  /* A pixel a cell, the darker the likelier: in full colour from four times the chance in a shuffled deck on. */
  const paint = (canvas, items, chance) => {
    canvas.width = canvas.height = items;
    const pen = canvas.getContext("2d"), image = new ImageData(items, items);
    for (let item = 0; item < items; item++) {
      for (let place = 0; place < items; place++) image.data[4 * (items * item + place) + 3] = Math.round(255 * Math.min(1, (chance(item, place) * items) / 4));
    }
    pen.putImageData(image, 0, 0);
    pen.globalCompositeOperation = "source-in"; /* a blue that reads on light and dark */
    pen.fillStyle = "#2b86c8";
    pen.fillRect(0, 0, items, items);
  };
  const draw = (view, { matrix, places }, { items }, { el }) => {
    if (!view.firstChild) {
      const panel = (title) => el("figure", {}, el("figcaption", {}, title), el("canvas", { "aria-hidden": "true" }));
      view.replaceChildren(el("div", { class: "mallows" }, panel("How likely each item (row) is at each place (column): full colour is four times as likely as in a shuffled deck, or more"), panel("One ranking: a mark in every row and column")));
    }
    const [mean, one] = view.querySelectorAll("canvas");
    paint(mean, items, (item, place) => matrix[item][place]);
    paint(one, items, (item, place) => Number(places[item] === place));
  };

  const share = (x, most) => `${((100 * x) / most).toFixed(1)} %`;
  const say = ({ expected, most, distance }, { phi, items }) =>
    `φ = ${phi}, ${items} items: a ranking is expected to turn ${expected.toFixed(1)} of ${most} pairs round, ${share(expected, most)}; a shuffled deck turns 50 %. This one turns ${distance}, ${share(distance, most)}.`;
  const table = ({ matrix, places }) => [
    ["item", "likeliest place", "chance to be there", "expected place", "place in this ranking"],
    ...matrix.map((row, item) => {
      const best = row.reduce((at, p, place) => (p > row[at] + 1e-12 ? place : at), 0);
      return [item + 1, best + 1, `${(100 * row[best]).toFixed(1)} %`, row.reduce((sum, p, place) => sum + p * (place + 1), 0).toFixed(2), places[item] + 1];
    }),
  ];
  const act = (_, { sample }) => ({ sample: (sample % 100) + 1 });

  explorers.define("mallows", { compute, draw, say, table, act });
})();
