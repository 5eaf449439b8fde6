// Tooltips and legend toggles for figures that stand drawn on the page. Nothing is fetched; without this, nothing is lost.
"use strict";
for (const source of document.querySelectorAll("figure.chart > script[type='application/json']")) {
  const plot = source.previousElementSibling;
  if (!plot?.matches(".plot")) continue;
  const { size: [width, height], label, series, points } = JSON.parse(source.textContent);
  const hidden = new Set();
  let at = -1;

  const make = (tag, name, more) => Object.assign(document.createElement(tag), { className: name }, more);
  const put = (element, [left, top, wide, high]) => Object.assign(element.style, {
    left: `${100 * left / width}%`, top: `${100 * top / height}%`,
    width: `${100 * wide / width}%`, height: `${100 * high / height}%`,
  });
  const tip = make("div", "tip", { hidden: true });
  const ring = make("div", "ring", { hidden: true });
  const walk = make("div", "walk", { tabIndex: 0 });
  const spoken = make("div", "spoken");
  walk.setAttribute("role", "application");
  walk.setAttribute("aria-label", label);
  spoken.setAttribute("role", "status");
  plot.append(ring, walk, tip, spoken);

  const hide = () => { at = -1; tip.hidden = ring.hidden = true; };
  const show = (index, aloud) => {
    at = index;
    const { box: [left, top, wide, high], tip: lines } = points[index];
    tip.replaceChildren(...lines.map((line, i) => make(i ? "span" : "b", "", { textContent: line })));
    tip.hidden = ring.hidden = false;
    const room = wide || high ? 1 : 7;
    put(ring, [left - room, top - room, wide + 2 * room, high + 2 * room]);
    tip.style.top = `${100 * (top + high / 2) / height}%`;
    tip.style.left = `${100 * (left + wide / 2) / width}%`;
    tip.classList.toggle("before", left + wide / 2 > width / 2);
    if (aloud) spoken.textContent = lines.join(". ");
  };
  const seen = (index) => index >= 0 && index < points.length && !hidden.has(points[index].series);
  const distance = ([left, top, wide, high], x, y) =>
    Math.hypot(Math.max(left - x, 0, x - left - wide), Math.max(top - y, 0, y - top - high));
  const step = (forward) => {
    for (let i = at + forward; i >= 0 && i < points.length; i += forward) if (seen(i)) return show(i, true);
  };
  const across = (forward) => {  // the point of another series that is next above or below
    if (!seen(at)) return step(1);
    const middle = ({ box }) => [box[0] + box[2] / 2, box[1] + box[3] / 2];
    const [x, y] = middle(points[at]);
    let best = -1, least = Infinity;
    points.forEach((point, i) => {
      const [px, py] = middle(point);
      const far = Math.abs(px - x) * 4 + Math.abs(py - y);
      if (seen(i) && point.series !== points[at].series && (py - y) * forward >= 0 && far < least) [best, least] = [i, far];
    });
    if (best >= 0) show(best, true);
  };

  walk.addEventListener("pointermove", (event) => {
    const area = plot.getBoundingClientRect();
    const x = (event.clientX - area.left) * width / area.width, y = (event.clientY - area.top) * height / area.height;
    let best = -1, least = 32;
    points.forEach((point, i) => {
      const far = distance(point.box, x, y);
      if (seen(i) && far < least) [best, least] = [i, far];
    });
    best < 0 ? hide() : best !== at && show(best, false);
  });
  walk.addEventListener("pointerleave", hide);
  walk.addEventListener("blur", hide);
  walk.addEventListener("keydown", (event) => {
    const keys = {
      ArrowRight: () => step(1), ArrowLeft: () => step(-1), ArrowUp: () => across(-1), ArrowDown: () => across(1),
      Home: () => { at = -1; step(1); }, End: () => { at = points.length; step(-1); }, Escape: hide,
    };
    if (!keys[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
    keys[event.key]();
    event.preventDefault();
  });

  for (const { series: index, name, box } of series) {
    const toggle = make("button", "toggle", { type: "button" });
    toggle.setAttribute("aria-label", name);
    toggle.setAttribute("aria-pressed", "true");
    toggle.title = name;
    put(toggle, box);
    toggle.addEventListener("click", () => {
      const off = !hidden.delete(index);
      if (off) hidden.add(index);
      toggle.setAttribute("aria-pressed", String(!off));
      for (const group of plot.querySelectorAll(`svg [data-series="${index}"]`)) group.classList.toggle("off", off);
      hide();
    });
    plot.append(toggle);
  }
}
