// The frame: which view is shown, for which slice, and who is signed in.

const VIEWS = {
  overview: ["Overview", overviewView],
  beliefs: ["Beliefs", beliefsView],
  fading: ["Fading", fadingView],
  conflicts: ["Conflicts", conflictsView],
  notes: ["Notes", notesView],
  autonomy: ["Autonomy", autonomyView],
  recall: ["Recall", recallView],
  settings: ["Settings", settingsView],
};
const OF_A_SLICE = new Set(["beliefs", "fading", "conflicts", "notes"]);
const SCOPE = "dreaming.scope";

const main = document.getElementById("main");
const views = document.getElementById("views");
const whose = document.getElementById("whose");

function currentScope() {
  return sessionStorage.getItem(SCOPE) ?? "org";
}

function show(focus = true) {
  if (!session.token) return showSignIn();
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const name = Object.hasOwn(VIEWS, path) ? path : "overview";
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
  drawFrame(name);
  const place = h("div", {});
  main.replaceChildren(place);
  document.title = `${VIEWS[name][0]} · Dreaming`;
  VIEWS[name][1](place, new URLSearchParams(query), currentScope());
  if (focus) place.querySelector("h1").focus();
}

function drawFrame(name) {
  const links = Object.entries(VIEWS).map(([key, [title]]) => h("li", {}, h("a", { href: `#/${key}`, "aria-current": key === name ? "page" : null }, title,
    key === "conflicts" && h("span", { id: "conflict-count" }))));
  views.replaceChildren(h("ul", {}, links));
  whose.replaceChildren(
    OF_A_SLICE.has(name) ? choice("Slice", SCOPES, currentScope(), (scope) => { sessionStorage.setItem(SCOPE, scope); show(false); }) : "",
    button("Sign out", () => { session.forget(); showSignIn("You are signed out"); }, "plain"));
  views.hidden = whose.hidden = false;
  // Not by scrollIntoView: from there the next Tab would start.
  const link = views.querySelector("[aria-current]");
  views.scrollLeft = link.offsetLeft - (views.clientWidth - link.offsetWidth) / 2;
  countConflicts();
}

async function countConflicts() {
  const { conflicts } = await get("/brain/conflicts", { scope: currentScope(), limit: 20 }).catch(() => ({ conflicts: [] }));
  const place = document.getElementById("conflict-count");
  if (place) place.replaceChildren(...(conflicts.length ? [chip(conflicts.length === 20 ? "20+" : count(conflicts.length), "warn")] : []));
}

function showSignIn(why, failure) {
  views.hidden = whose.hidden = true;
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
  document.title = "Sign in · Dreaming";
  main.replaceChildren(signInPanel(why, failure));
  main.querySelector("h1").focus();
}

// Keep what is searched for in the address, without a step in the history.
function keepQuery(view, values) {
  const query = new URLSearchParams(Object.entries(values).filter(([, value]) => value));
  history.replaceState(null, "", `${location.pathname}#/${view}${query.size ? `?${query}` : ""}`);
}

async function begin() {
  document.getElementById("skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); main.scrollIntoView(); });
  window.addEventListener("hashchange", () => (location.hash.startsWith("#token=") ? arrive().then(show) : show()));
  try {
    await arrive();
  } catch (error) {
    if (!(error instanceof SignInFailed)) console.error(error);
    return showSignIn("Sign in", error);
  }
  return show(false);
}

begin();
