// Small charts in SVG. Each is drawn as wide as its place, so that its text keeps its size; a table stands behind it.

function chart(title, { about = "", summary, draw, names, rows, legend = [] }) {
  const plot = h("div", { class: "plot" });
  let width = 0;
  const redraw = () => {
    const now = Math.floor(plot.clientWidth);
    if (!now || now === width) return;
    width = now;
    const { height, parts } = draw(width);
    plot.replaceChildren(svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}. ${summary}` }, parts));
  };
  new ResizeObserver(redraw).observe(plot);
  return h("figure", {},
    h("figcaption", {}, title, about && h("span", { class: "soft" }, about)),
    legend.length > 0 && h("div", { class: "legend" }, legend.map(([kind, text]) => h("span", {}, h("i", { class: kind }), text))),
    plot,
    h("details", {}, h("summary", {}, "As a table"), table(title, names, rows, { folds: false, ends: names.map((_, place) => place).slice(1) })));
}

// The next of 1, 2 or 5 times a power of ten, so that a scale has round numbers.
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value);
}

function text(x, y, words, { anchor = "start", strong = false } = {}) {
  return svg("text", { x, y, "text-anchor": anchor, class: strong ? "strong" : null }, words);
}

// Upright columns; `bars` are {label, value, title, kind}. Labels that would touch are left out.
function columns(bars, { height = 132, show = true } = {}) {
  return (width) => {
    const most = roundUp(Math.max(...bars.map((bar) => bar.value), 1));
    const [left, top, bottom] = [8 + 7 * count(most).length, 16, 22];
    const room = (width - left) / bars.length;
    const thick = Math.min(46, Math.max(2, room * 0.72));
    const level = (value) => top + (height - top - bottom) * (1 - value / most);
    const longest = Math.max(...bars.map((bar) => bar.label.length)) * 6.6 + 8;
    const every = Math.max(1, Math.ceil(longest / room));
    const parts = [0, most / 2, most].filter(Number.isInteger).map((value) => [
      svg("line", { x1: left, x2: width, y1: level(value), y2: level(value), class: value ? "grid" : "axis" }),
      text(left - 6, level(value) + 4, count(value), { anchor: "end" }),
    ]);
    bars.forEach((bar, place) => {
      const middle = left + room * (place + 0.5);
      const up = bar.value ? Math.max(2, level(0) - level(bar.value)) : 0;
      parts.push(svg("rect", { x: middle - thick / 2, y: level(0) - up, width: thick, height: up, rx: Math.min(3, thick / 4), class: `fill ${bar.kind ?? ""}` },
        svg("title", {}, bar.title)));
      if (show && bar.value && room > 24) parts.push(text(middle, level(0) - up - 4, count(bar.value), { anchor: "middle", strong: true }));
      if (place % every === 0) parts.push(text(middle, height - 6, bar.label, { anchor: "middle" }));
    });
    return { height, parts };
  };
}

// Bars that lie, each with its name before it and its number behind it.
function lyingBars(bars) {
  return (width) => {
    const [name, line, end] = [96, 25, 44];
    const most = Math.max(...bars.map((bar) => bar.value), 1);
    const parts = bars.map((bar, place) => {
      const long = bar.value ? Math.max(2, (width - name - end) * (bar.value / most)) : 0;
      return [
        text(0, place * line + 16, bar.label, { strong: true }),
        svg("rect", { x: name, y: place * line + 5, width: long, height: 14, rx: 3, class: "fill" }, svg("title", {}, bar.title)),
        text(name + long + 6, place * line + 16, count(bar.value)),
      ];
    });
    return { height: bars.length * line, parts };
  };
}

// A confidence that falls by half-lives from `confirmed` on, until it fades.
function fallingCurve(arithmetic) {
  const start = new Date(arithmetic.confirmed_at).getTime();
  const half = arithmetic.half_life_days;
  const age = arithmetic.age_days;
  const fades = arithmetic.fades_at ? (new Date(arithmetic.fades_at).getTime() - start) / DAY_MS : null;
  const until = Math.max(age * 1.15, fades ?? 0, 30);
  const at = (day) => arithmetic.confidence * (half ? 0.5 ** (day / half) : 1);
  return (width) => {
    const [left, top, bottom, height] = [30, 8, 22, 128];
    const x = (day) => left + (width - left - 6) * (day / until);
    const y = (value) => top + (height - top - bottom) * (1 - value);
    const steps = Array.from({ length: 61 }, (_, place) => (until * place) / 60);
    return {
      height,
      parts: [
        [0, 0.5, 1].map((value) => [svg("line", { x1: left, x2: width, y1: y(value), y2: y(value), class: value ? "grid" : "axis" }), text(left - 6, y(value) + 4, value, { anchor: "end" })]),
        fades !== null && svg("line", { x1: left, x2: width, y1: y(at(fades)), y2: y(at(fades)), class: "line thin" }),
        svg("path", { d: steps.map((day, place) => `${place ? "L" : "M"}${x(day).toFixed(1)} ${y(at(day)).toFixed(1)}`).join(""), class: "line" }),
        svg("circle", { cx: x(age), cy: y(arithmetic.aged), r: 5, class: "dot" }, svg("title", {}, `Now: ${sure(arithmetic.aged)}`)),
        text(left, height - 5, shortDay(start)),
        text(width, height - 5, shortDay(start + until * DAY_MS), { anchor: "end" }),
      ],
    };
  };
}
