// Every flag: what is in force, where it comes from, who reads it; changes, and the record of them.

const CONSENTS = [
  ["enrolled", "The organization takes part. Without it no pass runs for it.", "every pass"],
  ["model_consent", "Text of notes may go to the chat model.", "what asks the chat model"],
  ["embedding_consent", "Text may go to the embedder.", "what embeds"],
];
const SOURCES = "embedding_excluded_sources";

function settingsView(place, query) {
  const shown = h("div", { class: "stack" });
  const record = h("div", {});
  const find = h("input", { type: "search", value: query.get("find") ?? "", autocomplete: "off", spellcheck: "false", placeholder: "Name, or what it does" });
  let answer = null;
  const draw = () => answer && shown.replaceChildren(...settingParts(answer, find.value.trim().toLowerCase(), load));
  const load = () => {
    record.replaceChildren(auditPart());
    return fill(shown, () => get("/brain/capabilities"), (given) => { answer = given; return settingParts(given, find.value.trim().toLowerCase(), load); });
  };
  find.addEventListener("input", () => { keepQuery("settings", { find: find.value.trim() }); draw(); });
  place.append(titled("Settings", "What is in force for your organization. A change holds from the next tick on, and is recorded."),
    h("div", { class: "stack" }, h("form", { class: "bar", role: "search", on: { submit: (event) => event.preventDefault() } }, field("Find a setting", find, true)), shown, card("Who changed what", record)));
  load();
}

function settingParts({ consents, settings }, wanted, load) {
  const fits = (...texts) => !wanted || texts.some((one) => one.toLowerCase().includes(wanted) || plain(one).toLowerCase().includes(wanted));
  const found = settings.filter((one) => fits(one.name, one.sentence, one.reader));
  const sources = consents[SOURCES];
  const agreed = [
    ...CONSENTS.map(([name, sentence, reader]) => ({ name, sentence, value: consents[name], shown: consents[name] ? "yes" : "no", more: ["default: no", `read by ${reader}`], kind: "boolean", asks: sentence })),
    { name: SOURCES, sentence: "Sources whose text never goes to the embedder.", value: sources.join(", "), shown: sources.join(", ") || "none", more: ["default: none", "read by what embeds"], kind: "list", asks: "Names of sources, separated by commas." },
  ].filter((one) => fits(one.name, one.sentence));
  const parts = [
    agreed.length > 0 && card("Consents", agreed.map((one) => settingRow({ ...one, act: () => changeDialog({ ...one, sentence: one.asks }, load) }))),
    found.length > 0 && card("Flags", found.map((one) => settingRow({
      name: one.name, sentence: one.sentence, shown: written(one.value),
      more: [`default: ${written(one.default)}`, one.environment, h("span", {}, "read by ", h("span", { class: "mono" }, one.reader))],
      chip: chip({ organization: "set by the organization", environment: "set by the environment", default: "default" }[one.origin], one.origin === "organization" ? "accent" : ""),
      act: one.changed_by === "organization" && (() => changeDialog({ ...one, kind: one.choices.length ? "choice" : typeof one.default === "string" ? "text" : typeof one.default }, load)),
    }))),
  ].filter(Boolean);
  return parts.length ? parts : [emptyPanel("No such setting", "Settings are found by their name, by what they do, and by the code that reads them.")];
}

function settingRow({ name, sentence, shown, more, chip: mark, act }) {
  return h("div", { class: "setting" },
    h("div", {}, h("h3", { class: "mono" }, name), h("p", { class: "small" }, sentence),
      h("div", { class: "origin" }, mark, more.map((one) => (typeof one === "string" ? h("span", {}, one) : one)))),
    h("div", { class: "value" }, h("b", {}, shown), act ? button("Change", act, "plain", { "aria-label": `Change ${name}` }) : h("span", { class: "soft small" }, "fixed here")));
}

function written(value) {
  if (value === null) return "default";
  if (value === "") return "empty";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return count(value);
  return Array.isArray(value) ? value.join(", ") || "none" : String(value);
}

function changeDialog(setting, load) {
  openDialog(`Change ${setting.name}`, (inside, close) => {
    const control = settingControl(setting);
    const step = h("div", { class: "stack" });
    const review = () => {
      const value = readControl(setting, control);
      if (value === undefined) return control.reportValidity();
      return step.replaceChildren(h("div", { class: "notice warn" }, h("p", {}, "From ", h("b", {}, written(setting.value)), " to ", h("b", {}, written(value)), ", for the whole organization, from the next tick on.")),
        ends("Change it", () => send("PUT", { body: { value } })));
    };
    const send = async (method, options) => {
      try {
        const { changed } = await ask(method, `/brain/settings/${setting.name}`, options);
        close();
        tell(changed ? `${setting.name} is changed` : "It was so before");
        load();
      } catch (problem) {
        if (problem.status === 401) return close();
        step.replaceChildren(problemPanel(problem), ends("Go on", review));
      }
    };
    const ends = (name, does) => h("div", { class: "ends" }, button("Cancel", close), button(name, does, "first"));
    const range = setting.minimum !== null && setting.minimum !== undefined ? ` From ${count(setting.minimum)} to ${count(setting.maximum)}.` : "";
    inside.append(h("p", {}, setting.sentence, range), field("New value", control), step);
    step.append(setting.origin === "organization" ? h("div", { class: "row spread" }, button("Return to the default", () => step.replaceChildren(
      h("div", { class: "notice warn" }, h("p", {}, "The organization's value is forgotten, and the deployment's holds again.")), ends("Return to the default", () => send("DELETE")))), ends("Go on", review)) : ends("Go on", review));
  });
}

function settingControl({ kind, value, choices, minimum, maximum }) {
  const options = kind === "boolean" ? [["true", "yes"], ["false", "no"]] : (choices ?? []).map((one) => [one, one]);
  if (options.length) return h("select", {}, options.map(([key, name]) => h("option", { value: key, selected: key === String(value) }, name)));
  if (kind === "number") return h("input", { type: "number", step: "any", required: true, min: minimum, max: maximum, value: String(value) });
  return h("input", { type: "text", maxlength: "2000", value: String(value ?? "") });
}

function readControl({ kind }, control) {
  if (!control.checkValidity()) return undefined;
  if (kind === "boolean") return control.value === "true";
  if (kind === "number") return control.valueAsNumber;
  if (kind === "list") return control.value.split(",").map((one) => one.trim()).filter(Boolean);
  return control.value;
}

function auditPart() {
  return pages((cursor) => get("/brain/settings/audit", { kind: "settings", limit: 10, cursor }), (page) => page.entries.map((one) => h("li", {}, time(one.happened_at, moments),
    h("div", {}, h("b", { class: "mono" }, one.subject), ` from ${written(one.old_value)} to ${written(one.new_value)}`, h("div", { class: "soft small" }, `${plain(one.action)}, by ${one.actor}`)))),
  () => h("p", { class: "soft" }, "Nothing was changed yet."), (...items) => h("ol", { class: "events" }, items));
}
