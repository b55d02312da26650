// What fades in the weeks to come, unless something confirms it.

function fadingView(place, query, scope) {
  const parts = h("div", { class: "stack" });
  place.append(titled("Fading", "What falls below the threshold in the next 12 weeks, unless a note or a person confirms it. What has faded is archived, and can be restored."), parts);
  const load = () => fill(parts, () => get("/brain/fading", { scope, limit: 100 }), (forecast) => fadingParts(forecast, load));
  load();
}

function fadingParts(forecast, load) {
  const sum = forecast.weeks.reduce((all, week) => all + week.beliefs, 0);
  if (!forecast.ageing) return emptyPanel("Nothing ages", "Beliefs whose decay class is slow_decay or fast_decay are listed here as they near the threshold.");
  const bars = forecast.weeks.map((week) => ({ label: shortDay(week.start), value: week.beliefs, title: `Week of ${shortDay(week.start)}: ${counted(week.beliefs, "belief")}` }));
  return [
    forecast.faded > 0 && h("div", { class: "notice warn" }, h("p", {}, `${counted(forecast.faded, "belief")} faded already and wait${forecast.faded === 1 ? "s" : ""} for the decay pass, or stay a while because they were announced.`)),
    card(null, chart("Beliefs that fade, by week", {
      about: `${count(sum)} of ${count(forecast.ageing)} that age`, summary: `${counted(sum, "belief")} in 12 weeks.`, draw: columns(bars),
      names: ["Week from", "Beliefs"], rows: bars.map((bar) => [bar.label, count(bar.value)]),
    })),
    forecast.next_ones.length
      ? h("section", { class: "stack" }, h("h2", {}, "The first to fade"), withArrowKeys(h("ul", { class: "list" }, forecast.next_ones.map((one) => fadingItem(one, load)))))
      : emptyPanel("Nothing fades soon", "Nothing falls below the threshold in the next 12 weeks."),
  ].filter(Boolean);
}

function fadingItem(one, load) {
  return h("li", {}, h("button", { type: "button", class: "item", on: { click: () => openWhy(one.belief_id, load) } },
    h("span", { class: "says" }, one.statement), surePart(one.aged),
    h("span", { class: "under" }, beliefChips(one), h("span", {}, "fades ", ago(one.fades_at)),
      one.archived_from !== one.fades_at && h("span", {}, "archived from ", time(one.archived_from)),
      one.warned_at ? chip("announced", "warn") : one.warns && chip("will be announced"))));
}
