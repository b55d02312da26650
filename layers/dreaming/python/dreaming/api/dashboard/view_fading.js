// What fades in the weeks to come, unless something confirms it.

function fadingView(place, query, scope) {
  const parts = h("div", { class: "stack" });
  place.append(titled("Fading", "What falls below the threshold in the next 12 weeks, unless a note or a person confirms it. What has faded is archived, and can be restored."), parts);
  const load = () => {
    const outlook = h("div", { class: "stack" });
    let ageing = 0;
    const ask = async (cursor) => {
      const forecast = await get("/brain/fading", { scope, limit: 50, cursor });
      ageing = forecast.ageing;
      if (!cursor) outlook.replaceChildren(...fadingParts(forecast));
      return forecast;
    };
    const none = () => (ageing ? emptyPanel("Nothing fades soon", "Nothing falls below the threshold in the next 12 weeks.")
      : emptyPanel("Nothing ages", "Beliefs whose decay class is slow_decay or fast_decay are listed here as they near the threshold."));
    parts.replaceChildren(outlook, pages(ask, (page) => page.next_ones.map((one) => fadingItem(one, load)), none));
  };
  load();
}

function fadingParts(forecast) {
  if (!forecast.ageing) return [];
  const sum = forecast.weeks.reduce((all, week) => all + week.beliefs, 0);
  const bars = forecast.weeks.map((week) => ({ label: shortDay(week.start), value: week.beliefs, title: `Week of ${shortDay(week.start)}: ${counted(week.beliefs, "belief")}` }));
  return [
    forecast.faded > 0 && h("div", { class: "notice warn" }, h("p", {}, `${counted(forecast.faded, "belief")} faded already and wait${forecast.faded === 1 ? "s" : ""} for the decay pass, or stay a while because they were announced.`)),
    card(null, chart("Beliefs that fade, by week", {
      about: `${count(sum)} of ${count(forecast.ageing)} that age`, summary: `${counted(sum, "belief")} in 12 weeks.`, draw: columns(bars),
      names: ["Week from", "Beliefs"], rows: bars.map((bar) => [bar.label, count(bar.value)]),
    })),
    forecast.next_ones.length > 0 && h("h2", {}, "The first to fade"),
  ].filter(Boolean);
}

function fadingItem(one, load) {
  return h("li", {}, h("button", { type: "button", class: "item", on: { click: () => openWhy(one.belief_id, load) } },
    h("span", { class: "says" }, one.statement), surePart(one.aged),
    h("span", { class: "under" }, beliefChips(one), h("span", {}, "fades ", ago(one.fades_at)),
      one.archived_from !== one.fades_at && h("span", {}, "archived from ", time(one.archived_from)),
      one.warned_at ? chip("announced", "warn") : one.warns && chip("will be announced"))));
}
