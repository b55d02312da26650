// Past conversations, found again from a paraphrase.

function recallView(place, query) {
  const asked = h("input", { type: "search", value: query.get("q") ?? "", autocomplete: "off", maxlength: "4000", placeholder: "What it was about, in your own words" });
  const found = h("div", { class: "stack" });
  const search = () => {
    const q = asked.value.trim();
    keepQuery("recall", { q });
    if (!q) return found.replaceChildren(emptyPanel("Ask for a conversation", "Say what it was about. The words need not be the ones that were used."));
    return fill(found, () => get("/brain/recall", { q }), recallParts);
  };
  place.append(titled("Recall", "Conversations that fit best, each with the turn that fits."), h("div", { class: "stack" },
    h("form", { class: "bar", role: "search", on: { submit: (event) => { event.preventDefault(); search(); } } }, field("Question", asked, true), h("button", { class: "first" }, "Find")), found));
  search();
}

function recallParts({ conversations, reason, terms_left_out: leftOut }) {
  const notes = [reason && (RECALL_REASONS[reason] ?? `Only words were compared: ${plain(reason)}.`), leftOut > 0 && `${counted(leftOut, "common word")} of the question ${leftOut === 1 ? "was" : "were"} not looked up.`].filter(Boolean);
  if (!conversations.length) {
    return reason === "off" ? emptyPanel("Conversations are not kept", `${RECALL_REASONS.off} Its operator sets conversation_memory.`, h("a", { class: "button", href: "#/settings?find=conversation" }, "See the setting"))
      : emptyPanel("No conversation fits", ["Try other words, or fewer. Conversations are found as soon as they are captured.", ...notes].join(" "));
  }
  return [notes.length > 0 && h("p", { class: "soft small" }, notes.join(" ")), conversations.map((one) => h("article", { class: "card tight" },
    h("div", { class: "row spread" }, h("h2", {}, one.conversation_id), surePart(one.score)),
    one.passage && h("blockquote", {}, one.passage.speaker && h("b", {}, `${one.passage.speaker}: `), h("span", { class: "turn" }, one.passage.text)),
    h("div", { class: "row small soft" }, h("span", {}, counted(one.turns, "turn")), one.agent && h("span", {}, `with ${one.agent}`), h("span", {}, "last ", ago(one.last_at)), h("span", {}, sliceName(one.scope)),
      h("span", {}, `words ${one.lexical.toFixed(1)}`), one.likeness !== null && h("span", {}, `likeness ${sure(one.likeness)}`)),
    h("details", {}, h("summary", {}, "Summary"), h("pre", {}, one.summary))))].flat().filter(Boolean);
}
