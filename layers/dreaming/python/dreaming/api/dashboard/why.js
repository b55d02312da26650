// Why a belief is believed: its quotes where they stand, the arithmetic, the history, and what a person can do.

const ACTS = {
  confirm: ["Confirm", "You vouch for it: it counts with confidence 1 from now on.", "Confirmed"],
  archive: ["Archive", "It goes out of sight, and notes that say the same no longer bring it back. It can be restored.", "Archived"],
  restore: ["Restore", "It comes back into sight, with its relationships to beliefs that are in sight.", "Restored"],
};

function openWhy(beliefId, changed = () => {}) {
  openDialog("Why this is believed", (inside, close) => {
    const load = () => fill(inside, () => get(`/brain/beliefs/${beliefId}`), (why) => whyParts(why, (act) => doAct(beliefId, act, () => { load(); changed(); })));
    load();
  }, { panel: true });
}

function doAct(beliefId, act, done) {
  if (act === "unmerge") {
    return askFirst("Undo the merge", "The two beliefs stand apart again, and are never merged again by themselves.", "Undo the merge", async () => {
      await post(`/brain/beliefs/${beliefId}/unmerge`);
      done();
      return "The merge is undone";
    });
  }
  const [name, sentence, said] = ACTS[act];
  return askFirst(`${name} this belief`, sentence, name, async () => {
    const answer = await post(`/brain/beliefs/${beliefId}/${act}`);
    done();
    return answer.changed ? said : "It was so before";
  }, { grave: act === "archive" });
}

function whyParts(why, act) {
  const { belief, arithmetic } = why;
  const live = why.sources.filter((one) => !one.ended_at);
  const ended = why.sources.filter((one) => one.ended_at);
  const merged = why.history.filter((one) => one.event === "merged").length > why.history.filter((one) => one.event === "unmerged").length;
  return [
    h("div", { class: "tight" },
      h("p", { class: "statement" }, h("b", {}, belief.statement)),
      h("div", { class: "row" }, beliefChips(belief), belief.archived_at && chip(`archived: ${plain(belief.archive_reason)}`, "warn"))),
    belief.archived_at && h("div", { class: "notice warn" }, h("p", {}, ARCHIVE_SENTENCES[belief.archive_reason] ?? "It is out of sight.", " Since ", time(belief.archived_at), ".")),
    h("div", { class: "row" },
      (!belief.archived_at || belief.archive_reason === "faded") && button("Confirm", () => act("confirm"), "first"),
      !belief.archived_at && button("Archive", () => act("archive")),
      ["faded", "person"].includes(belief.archive_reason) && button("Restore", () => act("restore"), "first"),
      merged && button("Undo the merge", () => act("unmerge"))),
    h("section", {}, h("h3", {}, live.length ? `Evidence (${count(live.length)})` : "Evidence"), live.length ? live.map(sourcePart) : h("p", { class: "soft" }, "Nothing counts any more."),
      ended.length > 0 && h("details", {}, h("summary", {}, `${counted(ended.length, "source")} that no longer count${ended.length === 1 ? "s" : ""}`), ended.map(sourcePart))),
    arithmetic && h("section", { class: "tight" }, h("h3", {}, "Confidence"), sumPart(arithmetic),
      chart("Confidence over time", {
        summary: `${sure(arithmetic.aged)} now.`, draw: fallingCurve(arithmetic),
        names: ["When", "Confidence"], rows: [["Confirmed", sure(arithmetic.confidence)], ["Now", sure(arithmetic.aged)], ...(arithmetic.fades_at ? [[`Fades ${days.format(new Date(arithmetic.fades_at))}`, "at the threshold"]] : [])],
      })),
    h("section", { class: "tight" }, h("h3", {}, "What it says"), h("dl", { class: "facts" }, factsOf(belief, why.scope).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]))),
    h("section", { class: "tight" }, h("h3", {}, "History"), h("ol", { class: "events" }, why.history.map((one) => h("li", {}, time(one.happened_at, moments), h("div", {}, capital(plain(one.event)), ` · confidence ${sure(one.confidence)}`,
      detailWords(one.detail) && h("div", { class: "soft small" }, detailWords(one.detail))))))),
  ];
}

function sourcePart(source) {
  const note = source.note;
  const where = note ? `${note.source} / ${note.external_id}` : source.source_type === "confirmation" ? "a person's confirmation" : plain(source.source_type);
  return h("article", { class: source.ended_at ? "source ended" : "source" },
    source.quote ? h("blockquote", {}, source.before, h("mark", {}, source.quote), source.after) : h("p", {}, source.statement),
    source.exact === false && h("p", { class: "small" }, chip("the note no longer says exactly this", "warn")),
    h("div", { class: "row small soft" }, h("span", {}, where), note?.author && h("span", {}, note.author), time(source.occurred_at), h("span", {}, `confidence ${sure(source.confidence)}`),
      source.trust === "untrusted" && chip("untrusted", "warn"), note && note.version !== note.current_version && chip(`version ${note.version} of ${note.current_version}`),
      source.model && h("span", { class: "mono" }, source.model), source.ended_at && h("span", {}, `${plain(source.ended_reason)} `, time(source.ended_at))));
}

function sumPart(sum) {
  const folded = sum.corroborations ? `min(${Number(sum.most)}, ${sure(sum.base)} + ${sure(sum.step)} × ${counted(sum.corroborations, "corroboration")}) = ${sure(sum.confidence)}` : `${sure(sum.base)} from its first evidence`;
  const aged = sum.half_life_days ? `${sure(sum.confidence)} × 0.5^(${sum.age_days.toFixed(1)} days / ${Number(sum.half_life_days.toFixed(1))} days)` : "it is permanent and does not age";
  return h("div", { class: "sum" }, h("p", {}, folded), h("p", {}, aged, sum.half_life_days && [" = ", h("b", {}, sure(sum.aged))]), sum.fades_at && h("p", { class: "soft" }, "Unless it is confirmed, it fades ", time(sum.fades_at), ` (${span(sum.fades_at)}).`));
}

function factsOf(belief, scope) {
  const until = (from, to) => [from && time(from), " to ", to ? time(to) : "open"];
  return [
    ["Slice", sliceName(scope)],
    belief.subject && ["Subject", belief.subject],
    belief.attribute && ["Attribute", belief.attribute],
    belief.value && ["Value", belief.value],
    (belief.valid_from || belief.valid_until) && ["Holds", until(belief.valid_from, belief.valid_until)],
    ["Ageing", plain(belief.decay_class)],
    ["First seen", time(belief.first_seen_at)],
    ["Confirmed", time(belief.confirmed_at)],
    ["Id", h("span", { class: "mono" }, belief.belief_id)],
  ].filter(Boolean);
}

function beliefChips(belief) {
  return [
    chip(belief.kind, "accent"),
    belief.importance !== "normal" && chip(`${belief.importance} importance`, belief.importance === "low" ? "" : "good"),
    belief.trust === "untrusted" && chip("untrusted", "warn"),
  ];
}

function detailWords(detail) {
  return Object.entries(detail ?? {}).filter(([, value]) => value !== null && typeof value !== "object")
    .map(([name, value]) => `${plain(name)}: ${typeof value === "number" ? Number(value.toFixed(3)) : value}`).join(" · ");
}

function surePart(aged) {
  const bar = h("i", {});
  bar.style.width = `${Math.round(aged * 100)}%`;
  return h("span", { class: "sure" }, h("span", { class: "meter", "aria-hidden": "true" }, bar), " ", sure(aged));
}
