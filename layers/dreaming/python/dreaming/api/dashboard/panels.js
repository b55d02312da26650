// What stands in a place while there is nothing yet, nothing at all, or a refusal; dialogs and notices.

const PROBLEM_WORDS = {
  0: "No answer",
  400: "The list has changed",
  401: "You are signed out",
  403: "You may not do this",
  404: "It is not there",
  409: "It is still being done",
  422: "The API does not accept this",
  429: "Too many requests",
  500: "The API failed",
  503: "The database is waking up",
};

function problemPanel(problem, again) {
  const known = problem instanceof Problem;
  const title = (known && PROBLEM_WORDS[problem.status]) || "Something went wrong";
  return h("div", { class: "notice bad", role: "alert" },
    h("h2", {}, title),
    h("p", {}, capital(problem.detail ?? problem.message)),
    known && problem.fields.length > 0 && h("ul", { class: "points" }, problem.fields.map((one) => h("li", {}, h("b", {}, one.field), ` ${one.problem}`))),
    known && problem.status === 403 && h("p", {}, "Ask an administrator of the organization."),
    known && problem.correlation && h("p", { class: "small" }, "In the log as ", h("span", { class: "mono" }, problem.correlation)),
    again && h("div", {}, button("Try again", again)));
}

function emptyPanel(title, sentence, ...more) {
  return h("div", { class: "card empty" }, h("h2", {}, title), h("p", {}, sentence), more);
}

// Fill a place with what `asks` answers. What comes after the place was given to something else is dropped.
async function fill(place, asks, draw) {
  const turn = Symbol("turn");
  place.turn = turn;
  const put = (...children) => { if (place.turn === turn) place.replaceChildren(...children); };
  const again = () => fill(place, asks, draw);
  if (!place.hasChildNodes()) put(h("p", { class: "loading", role: "status" }, "Loading"));
  for (let waits = 0; place.turn === turn; waits += 1) {
    try {
      const answer = await asks();
      return put(...[draw(answer)].flat().filter(Boolean));
    } catch (problem) {
      if (!(problem instanceof Problem)) console.error(problem);
      if (problem.status === 401) return;
      if (problem.status !== 503 || waits === MOST_WAITS) return put(problemPanel(problem, again));
      await countDown(problem.retryAfter ?? 5, (left, now) => put(h("div", { class: "notice warn", role: "status" },
        h("h2", {}, PROBLEM_WORDS[503]), h("p", {}, `${capital(problem.detail ?? "")}. Asking again in ${counted(left, "second")}.`), h("div", {}, button("Ask now", now)))));
    }
  }
}

function countDown(seconds, tell) {
  return new Promise((done) => {
    let left = seconds;
    const stop = () => { clearInterval(clock); done(); };
    const clock = setInterval(() => { left -= 1; if (left > 0) tell(left, stop); else stop(); }, 1000);
    tell(left, stop);
  });
}

function tell(sentence) {
  const place = document.getElementById("told");
  place.textContent = sentence;
  place.classList.add("shown");
  clearTimeout(tell.clock);
  tell.clock = setTimeout(() => place.classList.remove("shown"), 5000);
}

// A modal dialog: the browser keeps the focus in it, closes it on Esc, and gives the focus back.
function openDialog(title, fills, { panel = false } = {}) {
  const close = () => dialog.close();
  const heading = h("h2", { id: `title-${crypto.getRandomValues(new Uint32Array(1))[0]}`, tabindex: "-1" }, title);
  const inside = h("div", { class: "inside" });
  const dialog = h("dialog", { class: panel ? "panel" : null, "aria-labelledby": heading.id, on: {
    close: () => dialog.remove(),
    click: (event) => event.target === dialog && close(),
  } }, h("div", { class: "head" }, heading, button("Close", close)), inside);
  document.body.append(dialog);
  fills(inside, close, heading);
  dialog.showModal();
  heading.focus();
  return dialog;
}

// Ask before `does` is done, and stay with the problem in words when it is refused.
function askFirst(title, sentence, doing, does, { grave = false, more = null } = {}) {
  openDialog(title, (inside, close) => {
    const refusal = h("div", { hidden: true });
    const act = button(doing, async () => {
      act.disabled = true;
      try {
        const said = await does();
        close();
        if (said) tell(said);
      } catch (problem) {
        if (problem.status === 401) return close();
        refusal.hidden = false;
        refusal.replaceChildren(problemPanel(problem));
        act.disabled = false;
      }
    }, grave ? "grave" : "first");
    inside.append(h("p", {}, sentence), ...[more ?? []].flat(), refusal, h("div", { class: "ends" }, button("Cancel", close), act));
  });
}

// A list that grows by pages; `draw` makes the items of one page.
function pages(asks, draw, empty, wrap = (...items) => h("ul", { class: "list" }, items)) {
  const place = h("div", { class: "stack" });
  fill(place, () => asks(null), (first) => {
    const items = draw(first);
    if (!items.length) return empty();
    const list = withArrowKeys(wrap(...items));
    const into = list.querySelector("tbody") ?? list;
    const more = h("div", {});
    const offer = (cursor) => more.replaceChildren(...(cursor ? [button("Show more", async () => {
      try {
        const next = await asks(cursor);
        const added = draw(next);
        into.append(...added);
        offer(next.next_cursor);
        (added[0]?.querySelector("button") ?? list).focus();
      } catch (problem) {
        if (problem.status !== 401) more.replaceChildren(problemPanel(problem, () => offer(cursor)));
      }
    })] : []));
    offer(first.next_cursor);
    return [list, more];
  });
  return place;
}
