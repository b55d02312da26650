// How the beliefs are spread, and the beliefs themselves: searched, filtered, explained.

function beliefsView(place, query, scope) {
  const wanted = { q: query.get("q") ?? "", kind: query.get("kind") ?? "", least: query.get("least") ?? "0", archived: query.get("archived") === "true" };
  const spread = h("div", {});
  const found = h("div", {});
  const search = h("input", { type: "search", value: wanted.q, autocomplete: "off", spellcheck: "false", placeholder: "Words of the statement" });
  const apply = (changes) => { Object.assign(wanted, changes); keepQuery("beliefs", { ...wanted, least: wanted.least === "0" ? "" : wanted.least, archived: wanted.archived ? "true" : "" }); list(); };
  const list = () => found.replaceChildren(beliefPages(wanted, scope, list));
  let clock = 0;
  search.addEventListener("input", () => { clearTimeout(clock); clock = setTimeout(() => apply({ q: search.value.trim() }), 250); });
  const archived = h("input", { type: "checkbox", checked: wanted.archived, on: { change: () => apply({ archived: archived.checked }) } });
  place.append(titled("Beliefs", "What is believed now, the surest first. Open one to see why."),
    h("div", { class: "stack" }, spread,
      h("form", { class: "bar", role: "search", on: { submit: (event) => { event.preventDefault(); apply({ q: search.value.trim() }); } } },
        field("Search", search, true),
        choice("Kind", [["", "All kinds"], ...KINDS.map((kind) => [kind, capital(kind)])], wanted.kind, (kind) => { apply({ kind }); drawSpread(); }),
        choice("Confidence", [["0", "Any"], ["0.25", "0.25 or more"], ["0.5", "0.5 or more"], ["0.75", "0.75 or more"], ["0.9", "0.9 or more"]], wanted.least, (least) => apply({ least })),
        h("label", { class: "tick" }, archived, "Archived ones")),
      found));
  let groups = [];
  const drawSpread = () => spread.replaceChildren(...spreadCards(groups, wanted.kind));
  fill(spread, () => get("/brain/beliefs/summary", { scope }), (summary) => { groups = summary.groups; return spreadCards(groups, wanted.kind); });
  list();
}

function spreadCards(groups, kind) {
  if (!groups.length) return [];
  const shown = groups.filter((one) => !kind || one.kind === kind);
  const total = (all, test) => all.filter(test).reduce((sum, one) => sum + one.beliefs, 0);
  const of = kind ? `of kind ${kind}` : "all kinds";
  const byKind = KINDS.map((one) => ({ label: one, value: total(groups, (group) => group.kind === one), title: one })).filter((bar) => bar.value);
  const bySure = Array.from({ length: 10 }, (_, tenth) => ({ label: `.${tenth}`, value: total(shown, (group) => group.tenth === tenth), title: `${tenth / 10} to ${(tenth + 1) / 10}` }));
  const byAge = AGES.map(([from, label]) => ({ label: { 0: "< 1 w", 7: "< 1 m", 30: "< 3 m", 90: "< 1 y", 365: "> 1 y" }[from], long: label, value: total(shown, (group) => group.age_from_days === from), title: label }));
  const sum = counted(total(shown, () => true), "belief");
  return [h("div", { class: "columns" },
    card(null, chart("By kind", { summary: sum, draw: lyingBars(byKind), names: ["Kind", "Beliefs"], rows: byKind.map((bar) => [bar.label, count(bar.value)]) })),
    card(null, chart("By confidence today", { about: of, summary: sum, draw: columns(bySure), names: ["Confidence", "Beliefs"], rows: bySure.map((bar) => [bar.title, count(bar.value)]) })),
    card(null, chart("By age of the confirmation", { about: of, summary: sum, draw: columns(byAge), names: ["Age", "Beliefs"], rows: byAge.map((bar) => [bar.long, count(bar.value)]) })))];
}

function beliefPages(wanted, scope, changed) {
  const filtered = wanted.q || wanted.kind || wanted.least !== "0";
  const empty = () => {
    if (filtered) return emptyPanel("Nothing fits", "Take a filter away, or search for fewer words. Archived beliefs are searched by the tick above.");
    if (wanted.archived) return emptyPanel("Nothing is archived", "What fades, is superseded or is archived by a person is kept and listed here.");
    return emptyPanel("Nothing is believed yet", "Beliefs come from notes. Bring some in and let consolidation run.", h("a", { class: "button", href: "#/overview" }, "See what runs"));
  };
  return pages((cursor) => get("/brain/beliefs", { q: wanted.q, kind: wanted.kind, min_confidence: wanted.least, archived: wanted.archived, scope, limit: 25, cursor }),
    (page) => page.beliefs.map((belief) => beliefItem(belief, changed)), empty);
}

function beliefItem(belief, changed) {
  return h("li", {}, h("button", { type: "button", class: "item", on: { click: () => openWhy(belief.belief_id, changed) } },
    h("span", { class: "says" }, belief.statement), surePart(belief.aged),
    belief.evidence && belief.evidence.quote !== belief.statement && h("span", { class: "quote" }, `“${belief.evidence.quote}”`),
    h("span", { class: "under" }, beliefChips(belief), belief.archived_at && chip(plain(belief.archive_reason), "warn"),
      h("span", {}, counted(belief.origins, "origin")), h("span", {}, "confirmed ", ago(belief.confirmed_at)),
      belief.evidence && h("span", {}, `${belief.evidence.source} / ${belief.evidence.external_id}`))));
}
