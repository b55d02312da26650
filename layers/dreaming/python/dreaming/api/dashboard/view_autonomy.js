// What each agent has earned, how that came about, and what keeps it from moving.

const BANDS = [[90, 100, "full"], [80, 90, "spot check"], [70, 80, "approval required"], [60, 70, "draft only"], [0, 60, "restricted"]];

function autonomyView(place, query) {
  const parts = h("div", { class: "stack" });
  place.append(titled("Autonomy", "Scores that agents earn from what became of their actions."), parts);
  fill(parts, () => getAll("/brain/autonomy", "agents"), (agents) => {
    if (!agents.length) return emptyPanel("No agent is known yet", "Log what agents do and what became of it. A score moves when enough actions carry evidence.", h("pre", {}, "dream autonomy --help"));
    const chosen = agents.find((one) => one.agent_id === query.get("agent")) ?? agents[0];
    const detail = h("div", { class: "stack" });
    const show = (agent) => { keepQuery("autonomy", { agent }); fill(detail, () => agentHistory(agent), agentParts); };
    show(chosen.agent_id);
    return [agents.length > 1 && h("div", { class: "bar" }, choice("Agent", agents.map((one) => [one.agent_id, `${one.agent_id} (${one.score})`]), chosen.agent_id, show)), detail].filter(Boolean);
  });
}

// The agent with all its changes, from the first.
async function agentHistory(name) {
  const path = `/brain/autonomy/agents/${encodeURIComponent(name)}`;
  const [{ agent }, changes] = await Promise.all([get(path, { limit: 1 }), getAll(path, "changes")]);
  return { agent, changes: changes.toReversed() };
}

function agentParts({ agent, changes }) {
  const tile = (name, value, under) => h("div", { class: "tile" }, h("dt", {}, name), h("dd", {}, value), h("dd", {}, under));
  return [
    h("h2", {}, agent.agent_id),
    h("dl", { class: "tiles" }, tile("Score", count(agent.score), plain(agent.band)), tile("Capability", agent.capability === null ? "none" : sure(agent.capability), agent.capability === null ? "no evidence yet" : "of its newest actions"),
      tile("Scored", count(agent.actions_scored), "actions with evidence"), tile("Waiting", count(agent.actions_waiting), "for the judge"), tile("Dead", count(agent.actions_dead), "the judge gave up")),
    agent.blocks.length > 0 && h("div", { class: "notice" }, h("h2", {}, "Why the score does not move"), h("ul", { class: "points" }, agent.blocks.map((one) => h("li", {}, capital(one))))),
    changes.length
      ? [card(null, chart("Score over time", {
        about: "the level says what the agent may do", summary: `${count(agent.score)} now, after ${counted(changes.length, "change")}.`, draw: scoreSteps(changes),
        legend: [["", "by evidence"], ["warn", "by a person"]],
        names: ["When", "Score", "From", "By"], rows: changes.toReversed().map((one) => [moments.format(new Date(one.happened_at)), count(one.new_score), count(one.old_score), one.actor]),
      })),
      card("Changes", h("ol", { class: "events" }, changes.toReversed().map((one) => h("li", {}, time(one.happened_at, moments),
        h("div", {}, h("b", {}, `${one.old_score} → ${one.new_score}`), ` ${one.reason}`, h("div", { class: "soft small" }, `${plain(one.action)}, by ${one.actor}`))))))]
      : emptyPanel("Nothing has changed yet", "The score moves when enough actions carry evidence."),
  ].flat().filter(Boolean);
}

function scoreSteps(changes) {
  return (width) => {
    const [left, top, bottom, height] = [width > 520 ? 122 : 30, 8, 24, 220];
    const low = Math.min(50, ...changes.map((one) => one.new_score)) - 5;
    const y = (score) => top + (height - top - bottom) * (1 - (score - low) / (100 - low));
    const first = new Date(changes[0].happened_at).getTime();
    const last = Math.max(Date.now(), new Date(changes.at(-1).happened_at).getTime(), first + DAY_MS);
    const x = (at) => left + (width - left - 8) * ((at - first) / (last - first));
    let path = "";
    changes.forEach((one) => { path += `${path ? `H${x(new Date(one.happened_at).getTime()).toFixed(1)}V` : `M${left} `}${y(one.new_score).toFixed(1)}`; });
    return {
      height,
      parts: [
        BANDS.map(([from, to, name], place) => [
          svg("rect", { x: left, y: y(to), width: width - left, height: Math.max(0, y(Math.max(from, low)) - y(to)), class: place % 2 ? "band odd" : "band" }),
          svg("line", { x1: left, x2: width, y1: y(to), y2: y(to), class: "grid" }),
          text(left - 6, y(to) + 4, to, { anchor: "end" }),
          width > 520 && text(0, (y(to) + y(Math.max(from, low))) / 2 + 4, name),
        ]),
        svg("path", { d: `${path}H${x(last).toFixed(1)}`, class: "line" }),
        changes.map((one) => svg("circle", { cx: x(new Date(one.happened_at).getTime()), cy: y(one.new_score), r: 4, class: one.action === "adjusted" ? "dot" : "dot hand" },
          svg("title", {}, `${days.format(new Date(one.happened_at))}: ${one.old_score} to ${one.new_score}, ${one.reason}`))),
        text(left, height - 6, shortDay(first)), text(width, height - 6, shortDay(last), { anchor: "end" }),
      ],
    };
  };
}
