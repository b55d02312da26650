// Notes that were given up, with another try; and all notes by where they stand.

function notesView(place, query, scope) {
  const retired = h("div", {});
  const found = h("div", {});
  const state = query.get("state") ?? "";
  const list = (wanted) => found.replaceChildren(notePages(wanted, scope));
  const loadRetired = () => fill(retired, () => getAll("/brain/notes/retired", "notes", { scope }), (notes) => retiredPart(notes, scope, () => { loadRetired(); list(chosen); }));
  let chosen = state;
  place.append(titled("Notes", "What was brought in, and where it stands."), h("div", { class: "stack" }, h("h2", {}, "Retired"), retired,
    h("div", { class: "row spread" }, h("h2", {}, "All notes"),
      choice("Where they stand", [["", "All"], ["waiting", "Waiting"], ["consolidated", "Read"], ["empty", "Empty"], ["retired", "Retired"], ["withdrawn", "Withdrawn"]], state, (value) => { chosen = value; keepQuery("notes", { state: value }); list(value); })),
    found));
  loadRetired();
  list(state);
}

function retiredPart(notes, scope, changed) {
  if (!notes.length) return emptyPanel("No note was given up", "A note whose answers were malformed three times is retired. It is listed here, and can be read again.");
  const retry = (ids, title, sentence) => askFirst(title, sentence, "Read again", async () => {
    const { retried } = await post("/brain/notes/retired/retry", { query: { scope }, body: { note_ids: ids } });
    changed();
    return retried ? `${counted(retried, "note")} wait${retried === 1 ? "s" : ""} for the next tick` : "None of them is retired any more";
  });
  return h("section", { class: "card" }, h("header", {}, h("p", {}, `${counted(notes.length, "note")} could not be read, and the cursor went on without ${notes.length === 1 ? "it" : "them"}.`),
    notes.length > 1 && button("Read all again", () => retry(null, "Read all retired notes again?", "They get new attempts and wait for the next tick of consolidation."))),
    table("Retired notes", ["Note", "Why", "Attempts", "Retired", "What you can do"], notes.map((note) => [
      noteName(note), capital(plain(note.reason)), count(note.attempts), time(note.retired_at, moments),
      h("div", { class: "row" }, button("Read again", () => retry([note.note_id], "Read this note again?", "It gets new attempts and waits for the next tick of consolidation.")), button("Show", () => openNote(note.note_id))),
    ])));
}

function noteName(note) {
  return [h("span", { class: "soft" }, `${note.source} / `), note.external_id];
}

function notePages(state, scope) {
  return pages((cursor) => get("/brain/notes", { scope, state, limit: 25, cursor }), (page) => page.notes.map(noteItem),
    () => (state ? emptyPanel("No note stands there", "Choose another state.") : emptyPanel("No notes yet", "Bring some in from a folder, a repository or a mailbox.", h("pre", {}, "dream ingest --help"))));
}

function noteItem(note) {
  const kinds = { waiting: "warn", retired: "bad", consolidated: "good" };
  return h("li", {}, h("button", { type: "button", class: "item", on: { click: () => openNote(note.note_id) } },
    h("span", { class: "says" }, noteName(note)), h("span", { class: "sure" }, chip(note.state === "consolidated" ? "read" : note.state, kinds[note.state])),
    h("span", { class: "under" }, h("span", {}, time(note.occurred_at, moments)), note.author && h("span", {}, note.author), h("span", {}, `sequence ${count(note.sequence)}`),
      note.version > 1 && h("span", {}, `version ${note.version}`), note.trust === "untrusted" && chip("untrusted", "warn"))));
}

function openNote(noteId) {
  openDialog("Note", (inside) => fill(inside, () => get(`/brain/notes/${noteId}`), (note) => [
    h("p", {}, h("b", {}, noteName(note))),
    h("div", { class: "row small soft" }, chip(note.state), time(note.occurred_at, moments), note.author && h("span", {}, note.author), h("span", {}, `version ${note.version}, sequence ${count(note.sequence)}`)),
    h("pre", { class: "text", tabindex: "0", role: "region", "aria-label": "Text of the note" }, note.text),
  ]), { panel: true });
}
