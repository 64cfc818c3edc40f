/* TeX as MathML Core, by MathJax, which knows TeX's space between two atoms: browsers do not. */
var tex2mathml = (() => {
  const FENCES = "()[]{}⌈⌉⌊⌋⟨⟩";
  const { startup } = MathJax;
  const { STATE } = MathJax._.core.MathItem;

  /* the space before each atom of a row goes to an operator beside it, or stands between */
  const space = (row) => {
    let before;
    for (const atom of [...row.childNodes]) {
      const width = atom.texSpacing();
      const core = atom.isEmbellished ? atom.coreMO() : undefined;
      if (before && width) before.attributes.set("rspace", width);
      else if (core && width) core.attributes.set("lspace", width);
      else if (width) row.childNodes.splice(row.childIndex(atom), 0, row.factory.create("mspace", { width }));
      before = core;
    }
  };

  /* browsers know spaces of their own, but none about brackets */
  const close = ({ attributes }, sign) => {
    for (const side of ["lspace", "rspace"])
      if (attributes.getExplicit(side) === undefined && !FENCES.includes(sign)) attributes.set(side, "0");
  };

  /* how a column stands is said of each cell */
  const align = (table) => {
    const sides = table.attributes.get("columnalign").split(" ");
    for (const row of table.childNodes)
      row.childNodes.forEach((cell, i) => cell.attributes.set("style", `text-align:${sides[i] ?? sides.at(-1)}`));
  };

  return (tex, display) => {
    const root = startup.document.convert(tex, { display, end: STATE.CONVERT });
    root.setTeXclass(null);
    root.walkTree((node) => (node.isInferred || node.isKind("mrow")) && space(node));
    root.walkTree((node) => node.isKind("mover") && node.attributes.set("accent", node.attributes.get("accent")));
    root.walkTree((node) => node.isKind("mtable") && align(node));
    root.walkTree((node) => node.isKind("mo") && close(node, node.getText()));
    return startup.toMML(root);
  };
})();
