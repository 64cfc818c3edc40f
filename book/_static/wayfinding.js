/* What a link leads to, on hovering or focus; the way from an old address to where its target stands now; which section of
   the contents one is in; light on paper. */
(() => {
  const root = new URL(document.documentElement.dataset.content_root ?? "./", location.href);
  const static_ = new URL("_static/", root);
  let asked;
  const previews = () =>
    (asked ??= new Promise((resolve) => {
      const script = document.createElement("script");
      script.src = new URL("previews.js", static_);
      script.onload = () => resolve(window.PREVIEWS);
      document.head.append(script);
    }));
  const key = (link) => link.href.slice(root.href.length);

  const lost = async () => {
    const name = decodeURIComponent(location.hash.slice(1));
    if (!name) return;
    const here = document.getElementById(name);
    const folded = here?.closest("details:not([open])");
    for (let box = folded; box; box = box.parentElement.closest("details")) box.open = true;
    if (folded) here.scrollIntoView();
    const listed = here?.closest(".statements") && here.querySelector("a");
    if (listed) return location.replace(listed.href);
    if (here || !/\/notebooks\/\d\d/.test(location.pathname)) return;
    const found = Object.keys(await previews()).find((it) => it.endsWith(`#${name}`));
    if (found) location.replace(new URL(found, root));
  };
  addEventListener("DOMContentLoaded", lost);
  addEventListener("hashchange", lost);

  /* the theme's own light follows headings: none is in sight for most of a long section */
  addEventListener("DOMContentLoaded", () => {
    const links = [...document.querySelectorAll(".page-toc a[href^='#']")];
    const heads = links.map((it) => document.getElementById(decodeURIComponent(it.hash.slice(1))));
    let waits = false;
    const light = () => {
      waits = false;
      const end = scrollY > 0 && scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
      const line = end ? innerHeight : innerHeight / 4;
      const here = heads.findLastIndex((it) => it?.getBoundingClientRect().top < line);
      links.forEach((it, i) => {
        it.classList.toggle("active", i === here);
        if (i === here) it.setAttribute("aria-current", "true");
        else it.removeAttribute("aria-current");
      });
      const [list, lit] = [links[0]?.closest(".bd-sidebar-secondary"), links[here]];
      if (list && lit) list.scrollTop = lit.offsetTop - list.clientHeight / 2;
    };
    const soon = () => waits || ((waits = true), requestAnimationFrame(light));
    if (links.length) for (const it of ["scroll", "resize"]) addEventListener(it, soon, { passive: true });
    light();
  });

  const looks = document.documentElement.dataset;
  let theme;
  addEventListener("beforeprint", () => ((theme = looks.theme), (looks.theme = "light")));
  addEventListener("afterprint", () => (looks.theme = theme));

  const tip = document.createElement("div");
  tip.className = "preview";
  tip.id = "preview";
  tip.setAttribute("role", "tooltip");
  tip.hidden = true;
  let shown;
  const hide = () => {
    shown?.removeAttribute("aria-describedby");
    shown = undefined;
    tip.hidden = true;
  };
  const show = async (link) => {
    hide();
    shown = link;
    const html = (await previews())[key(link)];
    if (!html || shown !== link) return;
    tip.innerHTML = html;
    for (const image of tip.querySelectorAll("img")) image.src = new URL(image.getAttribute("src"), root);
    document.body.append(tip);
    tip.hidden = false;
    const at = link.getBoundingClientRect();
    const wide = Math.min(420, innerWidth - 16);
    tip.style.width = `${wide}px`;
    tip.style.left = `${scrollX + Math.max(8, Math.min(at.left, innerWidth - wide - 8))}px`;
    const above = at.bottom + tip.offsetHeight > innerHeight && at.top > tip.offsetHeight;
    tip.style.top = `${scrollY + (above ? at.top - tip.offsetHeight - 6 : at.bottom + 6)}px`;
    link.setAttribute("aria-describedby", tip.id);
  };
  const target = (event) => event.target.closest?.("article a[href*='#']:not(.headerlink)");
  let timer;
  document.addEventListener("pointerover", (event) => {
    const link = event.pointerType === "mouse" && target(event);
    clearTimeout(timer);
    if (link && link !== shown) timer = setTimeout(() => show(link), 150);
    else if (!link && shown && !tip.contains(event.target)) timer = setTimeout(hide, 200);
  });
  document.addEventListener("focusin", (event) => {
    const link = target(event);
    if (link?.matches(":focus-visible")) show(link);
    else if (!tip.contains(event.target)) hide();
  });
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
})();
