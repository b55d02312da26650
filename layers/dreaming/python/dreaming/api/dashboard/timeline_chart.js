// The passes day by day: a square for each day, darker for more runs, marked where something held or failed.

function timelineChart(timeline) {
  const all = dayList(timeline.first, timeline.last);
  const found = new Map(timeline.days.map((one) => [`${one.pass} ${one.day}`, one]));
  const most = Math.max(1, ...timeline.days.map((one) => one.runs));
  const failures = timeline.days.reduce((sum, one) => sum + one.stalled, 0);
  const holds = timeline.days.reduce((sum, one) => sum + one.held, 0);
  return chart("Runs of each pass", {
    about: `${shortDay(timeline.first)} to ${shortDay(timeline.last)}, by UTC day`,
    summary: `${counted(timeline.days.reduce((sum, one) => sum + one.runs, 0), "run")}, ${counted(holds, "held run")}, ${counted(failures, "failed run")}.`,
    legend: [["none", "no run"], ["", "runs, darker for more"], ["held", "held"], ["failed", "failed, or gave notes up"]],
    names: ["Day, pass", "Runs", "Came to their end", "Held", "Failed", "Stopped", "Notes read", "Notes given up"],
    rows: timeline.days.toReversed().map((one) => [`${shortDay(one.day)}, ${one.pass}`, ...[one.runs, one.drained, one.held, one.stalled, one.stopped + one.replaced, one.notes_consolidated, one.notes_retired].map(count)]),
    draw: (width) => {
      const wide = width > 560;
      const left = wide ? 112 : 0;
      const room = (width - left) / all.length;
      const size = Math.max(3, Math.min(20, room - 2));
      const line = wide ? 27 : 40;
      const parts = PASSES.map((pass, row) => [
        text(0, wide ? row * line + 17 : row * line + 12, pass, { strong: true }),
        all.map((day, place) => square(found.get(`${pass} ${day}`), {
          x: left + room * place + (room - size) / 2, y: wide ? row * line + (line - size) / 2 : row * line + 17, size, most, label: `${shortDay(day)}, ${pass}` })),
      ]);
      const height = PASSES.length * line + 20;
      const every = Math.max(7, Math.ceil(46 / room));
      all.forEach((day, place) => {
        if ((all.length - 1 - place) % every === 0) parts.push(text(Math.min(width, left + room * (place + 0.5) + 20), height - 4, shortDay(day), { anchor: "end" }));
      });
      return { height, parts };
    },
  });
}

function dayList(first, last) {
  const found = [];
  for (let at = Date.parse(first); at <= Date.parse(last); at += DAY_MS) found.push(new Date(at).toISOString().slice(0, 10));
  return found;
}

function square(day, { x, y, size, most, label }) {
  const place = { x, y, width: size, height: size, rx: Math.min(4, size / 4) };
  if (!day) return svg("rect", { ...place, x: x + 0.5, y: y + 0.5, width: size - 1, height: size - 1, class: "none" }, svg("title", {}, `${label}: no run`));
  const failed = day.stalled > 0 || day.notes_retired > 0;
  const kind = failed ? "failed" : day.held ? "held" : `some-${day.runs > most * 0.5 ? 3 : day.runs > most * 0.15 ? 2 : 1}`;
  const says = [counted(day.runs, "run"), day.held && `${count(day.held)} held`, day.stalled && `${count(day.stalled)} failed`, day.stopped && `${count(day.stopped)} stopped`,
    day.notes_retired && `${counted(day.notes_retired, "note")} given up`].filter(Boolean).join(", ");
  const [a, b, c] = [size * 0.3, size * 0.5, size * 0.7];
  const sign = failed ? `M${x + a} ${y + a}L${x + c} ${y + c}M${x + c} ${y + a}L${x + a} ${y + c}` : day.held ? `M${x + a} ${y + b}L${x + c} ${y + b}` : null;
  return [svg("rect", { ...place, class: kind }, svg("title", {}, `${label}: ${says}`)), sign && size > 6 && svg("path", { d: sign, class: "sign" })];
}
