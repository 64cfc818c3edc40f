/* What a link leads to, on hovering or focus; the way from an old address to where its target stands now; light on paper. */
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
    const listed = here?.closest(".statements") && here.querySelector("a");
    if (listed) return location.replace(listed.href);
    if (here || !/\/notebooks\/\d\d/.test(location.pathname)) return;
    const found = Object.keys(await previews()).find((it) => it.endsWith(`#${name}`));
    if (found) location.replace(new URL(found, root));
  };
  addEventListener("DOMContentLoaded", lost);
  addEventListener("hashchange", lost);

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
    window.MathJax?.typesetPromise?.([tip]);
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
