// What runs, what waits, what is held.

function overviewView(place) {
  place.append(titled("Overview"));
  const parts = h("div", { class: "stack" });
  place.append(parts);
  fill(parts, () => Promise.all([get("/brain/dream/status", { runs: 1 }), get("/brain/dream/timeline", { days: 30 })]), ([status, timeline]) => [
    stoppedNotice(status.stopped),
    timeline.held.length > 0 && heldCard(timeline.held),
    tiles(status, timeline),
    status.coverage.total === 0
      ? emptyPanel("No notes yet", "Bring some in, then the next tick reads them.", h("pre", {}, "dream ingest git .\ndream drain"))
      : null,
    card(null, timelineChart(timeline)),
    h("div", { class: "columns" }, card(null, readChart(timeline)), card("Slices", status.slices.length ? status.slices.map(slicePart) : h("p", { class: "soft" }, "There is no slice yet."))),
    card("Latest runs", pages((cursor) => get("/brain/dream/runs", { limit: 15, cursor }), (page) => page.runs.map((run) => runRow(run, status.slices)),
      () => h("p", { class: "soft" }, "No pass has run yet."), runTable)),
  ].filter(Boolean));
}

function stoppedNotice(stopped) {
  if (!stopped.length) return null;
  return h("div", { class: "notice warn" }, h("h2", {}, "Nothing is consolidated"), h("ul", { class: "points" }, stopped.map((one) => h("li", {}, remedyPart(one)))));
}

function remedyPart(stop) {
  const [sentence, setting] = remedy(stop);
  return [sentence, setting && [" ", h("a", { href: `#/settings?find=${setting}` }, plain(setting))]];
}

function heldCard(held) {
  return h("div", { class: "notice warn" }, h("h2", {}, held.length === 1 ? "One pass is held" : `${count(held.length)} passes are held`),
    h("div", { class: "tight" }, held.map((one) => h("div", {},
      h("b", {}, `${capital(one.pass)}, ${sliceName(one.scope, one.owner_user_id)}`), " since ", ago(one.since), `: ${plain(one.reason)}`,
      h("div", { class: "small" }, one.detail && `${capital(one.detail)}. `, remedyPart(one))))));
}

function tiles(status, timeline) {
  const sum = (name) => timeline.days.reduce((all, one) => all + one[name], 0);
  const beliefs = status.slices.reduce((all, one) => all + one.beliefs.live, 0);
  const archived = status.slices.reduce((all, one) => all + one.beliefs.archived, 0);
  const { coverage } = status;
  const tile = (name, value, under) => h("div", { class: "tile" }, h("dt", {}, name), h("dd", {}, value), h("dd", {}, under));
  return h("dl", { class: "tiles" },
    tile("Notes", count(coverage.total), `${count(coverage.consolidated)} read`),
    tile("Waiting", count(coverage.waiting), coverage.waiting ? "for the next tick" : "all are read"),
    tile("Retired", count(coverage.retired), coverage.retired ? h("a", { href: "#/notes" }, "read them again") : "none given up"),
    tile("Beliefs", count(beliefs), `${count(archived)} archived`),
    tile("New in 30 days", count(sum("beliefs_created")), `${count(sum("beliefs_archived"))} archived`),
    tile("Model calls", count(sum("model_calls")), "in 30 days"));
}

function readChart(timeline) {
  const byDay = new Map();
  for (const one of timeline.days) byDay.set(one.day, (byDay.get(one.day) ?? 0) + one.notes_consolidated);
  const bars = dayList(timeline.first, timeline.last).map((day) => ({ label: shortDay(day), value: byDay.get(day) ?? 0, title: `${shortDay(day)}: ${counted(byDay.get(day) ?? 0, "note")}` }));
  return chart("Notes read each day", {
    summary: `${counted(bars.reduce((sum, bar) => sum + bar.value, 0), "note")} in 30 days.`, draw: columns(bars, { show: false }),
    names: ["Day", "Notes"], rows: bars.filter((bar) => bar.value).map((bar) => [bar.label, count(bar.value)]),
  });
}

const STATES = [["consolidated", "read"], ["waiting", "waiting"], ["empty", "empty"], ["retired", "retired"]];

function slicePart(one) {
  const kinds = { waiting: "waiting", empty: "empty-notes", retired: "retired", consolidated: "" };
  const bar = h("div", { class: "share", role: "img", "aria-label": STATES.map(([state, name]) => `${count(one.coverage[state])} ${name}`).join(", ") });
  for (const [state] of STATES) {
    if (!one.coverage[state]) continue;
    const part = h("i", { class: kinds[state] });
    part.style.flexGrow = one.coverage[state];
    bar.append(part);
  }
  return h("div", { class: "slice" },
    h("div", { class: "row spread" }, h("b", {}, capital(sliceName(one.scope, one.owner_user_id))),
      h("span", { class: "row" }, one.cursor.running && chip("running", "accent"), one.held && chip(`held: ${plain(one.held.reason)}`, "warn"),
        h("span", { class: "soft small" }, one.coverage.waiting ? `${counted(one.coverage.waiting, "note")} behind` : "up to date"))),
    one.coverage.total > 0 && bar,
    h("div", { class: "legend" }, STATES.filter(([state]) => one.coverage[state]).map(([state, name]) => h("span", {}, h("i", { class: kinds[state] }), `${count(one.coverage[state])} ${name}`))),
    one.rereading && h("p", { class: "small" }, `Its notes are read again since `, time(one.rereading.since), `: ${count(one.rereading.position)} of ${count(one.rereading.goal)}.`),
    h("p", { class: "soft small" }, `Cursor at ${count(one.cursor.position)} of ${count(one.cursor.last_sequence)}`, one.cursor.last_occurred_at && [", notes up to ", time(one.cursor.last_occurred_at)],
      one.cursor.progressed_at && [", moved ", ago(one.cursor.progressed_at)], `; ${counted(one.beliefs.live, "belief")}`));
}

function runTable(...rows) {
  const names = ["Pass", "Slice", "Started", "How it ended", "What it did"];
  return h("div", { class: "scroll" }, h("table", { class: "folds close" }, h("caption", { class: "unseen" }, "Latest runs"),
    h("thead", {}, h("tr", {}, names.map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, rows)));
}

function runRow(run, slices) {
  const slice = slices.find((one) => one.slice_id === run.slice_id);
  const did = [
    [run.notes_consolidated, "note", "notes", "read"], [run.notes_retired, "note", "notes", "given up"], [run.beliefs_created, "belief", "beliefs", "new"],
    [run.beliefs_corroborated, "belief", "beliefs", "corroborated"], [run.beliefs_archived, "belief", "beliefs", "archived"], [run.claims_rejected, "claim", "claims", "rejected"], [run.model_calls, "model call", "model calls", ""],
  ].filter(([number]) => number).map(([number, one, many, what]) => `${counted(number, one, many)} ${what}`.trim());
  did.push(...Object.entries(run.pass_counts).filter(([, number]) => number).map(([name, number]) => `${plain(name)} ${count(number)}`));
  return h("tr", {}, h("th", { scope: "row" }, capital(run.pass)),
    h("td", { "data-name": "Slice", class: "keep" }, slice ? sliceName(slice.scope, slice.owner_user_id) : count(run.slice_id)),
    h("td", { "data-name": "Started", class: "keep" }, time(run.started_at, moments)),
    h("td", { "data-name": "How it ended" }, chip(run.status, STATUS_KINDS[run.status]), " ", h("span", { class: "small soft" }, run.held_reason ? plain(run.held_reason) : STATUS_SENTENCES[run.status])),
    h("td", { "data-name": "What it did" }, did.join(", ") || "nothing to do"));
}
