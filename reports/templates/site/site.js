// Search in an index that is a script of this site: it needs no request, and works from a file share.
"use strict";
(() => {
  const box = document.querySelector(".search");
  const index = window.benchSite;
  if (!box || !Array.isArray(index)) return;
  box.hidden = false;
  const field = box.querySelector("input");
  const panel = box.querySelector(".found");
  const list = panel.querySelector("ul");
  const count = panel.querySelector("p");
  const root = document.body.dataset.root;
  const plain = (text) => text.normalize("NFKC").toLowerCase();
  const texts = index.map((row) => plain(row.join(" ")));
  const most = 12;

  const show = () => {
    const words = plain(field.value).split(/\s+/).filter(Boolean);
    list.replaceChildren();
    panel.hidden = words.length === 0;
    if (panel.hidden) return;
    const found = index.filter((_, at) => words.every((word) => texts[at].includes(word)));
    count.textContent = found.length ? count.dataset.some.replace("{n}", String(found.length)) : count.dataset.none;
    for (const [name, href, more] of found.slice(0, most)) {
      const item = document.createElement("li");
      const link = document.createElement("a");
      const rest = document.createElement("span");
      link.href = root + href;
      link.textContent = name;
      rest.textContent = more;
      item.append(link, rest);
      list.append(item);
    }
  };
  field.addEventListener("input", show);
  field.addEventListener("keydown", (event) => {
    const first = list.querySelector("a");
    if (event.key === "Escape") { field.value = ""; show(); }
    if (event.key === "Enter" && first) location.href = first.href;
    if (event.key === "ArrowDown" && first) { first.focus(); event.preventDefault(); }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) {
      field.focus();
      event.preventDefault();
    }
  });
})();
