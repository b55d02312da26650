// Elements are made here and nowhere else: every text becomes a text node, so nothing that was read is markup.

const SVG_SPACE = "http://www.w3.org/2000/svg";

function dressed(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [event, does] of Object.entries(value)) element.addEventListener(event, does);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : document.createTextNode(String(child)))));
  return element;
}

function h(tag, attributes, ...children) {
  return dressed(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return dressed(document.createElementNS(SVG_SPACE, tag), attributes, children);
}

function button(text, does, kind = "", more = {}) {
  return h("button", { type: "button", class: kind || null, on: { click: does }, ...more }, text);
}

function chip(text, kind = "") {
  return h("span", { class: `chip ${kind}`.trim() }, text);
}

function card(title, ...children) {
  const head = typeof title === "string" ? h("h2", {}, title) : title;
  return h("section", { class: "card" }, head && h("header", {}, head), children);
}

function titled(text, sentence) {
  return h("div", { class: "title" }, h("h1", { tabindex: "-1" }, text), sentence && h("p", {}, sentence));
}

function field(label, control, wide = false) {
  return h("label", { class: wide ? "field wide" : "field" }, h("span", {}, label), control);
}

function choice(label, options, value, does) {
  const select = h("select", { on: { change: () => does(select.value) } },
    options.map(([key, text]) => h("option", { value: key, selected: key === value }, text)));
  return field(label, select);
}

function table(caption, names, rows, { folds = true, ends = [] } = {}) {
  const at = (place) => (ends.includes(place) ? "end" : null);
  return h("div", { class: "scroll", tabindex: folds ? null : "0", role: folds ? null : "region", "aria-label": folds ? null : caption },
    h("table", { class: folds ? "folds" : null },
      h("caption", { class: "unseen" }, caption),
      h("thead", {}, h("tr", {}, names.map((name, place) => h("th", { scope: "col", class: at(place) }, name)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, place) => (place === 0
        ? h("th", { scope: "row" }, cell)
        : h("td", { class: at(place), "data-name": names[place] }, cell))))))));
}

// One stop for the Tab key in a list; arrows, Home and End move within it.
function withArrowKeys(list) {
  const items = () => [...list.querySelectorAll("button.item")];
  const choose = (item, focus) => {
    for (const one of items()) one.tabIndex = one === item ? 0 : -1;
    if (focus) item.focus();
  };
  if (items().length) choose(items()[0], false);
  list.addEventListener("focusin", (event) => event.target.matches("button.item") && choose(event.target, false));
  list.addEventListener("keydown", (event) => {
    const all = items();
    const here = all.indexOf(document.activeElement);
    if (here < 0) return;
    const there = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: all.length - 1 }[event.key];
    if (there === undefined) return;
    event.preventDefault();
    choose(all[Math.max(0, Math.min(all.length - 1, there))], true);
  });
  return list;
}
