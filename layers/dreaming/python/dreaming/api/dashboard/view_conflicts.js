// Two beliefs that cannot both hold, side by side, for a person to decide.

const DECISIONS = [
  ["left", "Keep the left", "The left one holds; the right one is kept as rejected."],
  ["right", "Keep the right", "The right one holds; the left one is kept as rejected."],
  ["both", "Both hold", "Both stay in sight, and are not asked about again."],
  ["merge", "They are one", "The two become one belief with the sources of both. It can be undone."],
];

function conflictsView(place, query, scope) {
  const parts = h("div", { class: "stack" });
  place.append(titled("Conflicts", "Pairs that neither a rule nor the judge could decide. Your word stands until one of the two says something else."), parts);
  const load = () => parts.replaceChildren(pages((cursor) => get("/brain/conflicts", { scope, limit: 20, cursor }), (page) => page.conflicts.map((one) => conflictCard(one, load)),
    () => emptyPanel("Nothing needs you", "When two beliefs contradict each other and neither is surer, they are shown here.", h("a", { class: "button", href: "#/beliefs" }, "Look at the beliefs")),
    (...cards) => h("div", { class: "stack" }, cards)));
  load();
}

function conflictCard(conflict, load) {
  const { left, right } = conflict;
  const about = [left.belief.subject, left.belief.attribute].filter(Boolean).join(", ");
  return h("article", { class: "card", "aria-label": `${left.belief.statement} / ${right.belief.statement}` },
    h("header", {}, h("h2", {}, about ? capital(about) : "Which one holds?"), h("span", { class: "row small soft" }, chip(conflict.relation ? conflict.relation : "open", "warn"), conflict.reason)),
    h("div", { class: "sides" }, sidePart(left, "Left", load), sidePart(right, "Right", load)),
    h("div", { class: "choices" }, DECISIONS.map(([keep, name, sentence]) => button(name, () => askFirst(`${name}?`, sentence, name, async () => {
      await post("/brain/conflicts/resolve", { body: { left_id: left.belief.belief_id, right_id: right.belief.belief_id, keep } });
      load();
      countConflicts();
      return "Decided";
    }, { more: [h("ul", { class: "tight" }, [["Left", left], ["Right", right]].map(([side, one]) => h("li", {}, h("b", {}, `${side}: `), one.belief.statement)))] })))));
}

function sidePart(why, side, load) {
  const { belief } = why;
  return h("div", { role: "group", "aria-label": side },
    h("p", { class: "small soft" }, side), h("h3", {}, belief.statement),
    h("div", { class: "row small soft" }, surePart(belief.aged), h("span", {}, counted(belief.origins, "origin")), h("span", {}, "confirmed ", ago(belief.confirmed_at)), belief.archived_at && chip(plain(belief.archive_reason), "warn")),
    why.sources.filter((one) => !one.ended_at).slice(0, 3).map(sourcePart),
    h("div", {}, button("Why?", () => openWhy(belief.belief_id, load), "plain")));
}
