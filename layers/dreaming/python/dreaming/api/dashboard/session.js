// Who is signed in: a token handed over in the fragment, pasted by hand, or had from the OpenID provider.

const OIDC = Object.fromEntries(["issuer", "client", "scope"].map((name) =>
  [name, document.querySelector(`meta[name="oidc-${name}"]`)?.content ?? ""]));
const TOKEN = "dreaming.token";
const JOURNEY = "dreaming.sign-in";
const HOME = "#/overview";

class SignInFailed extends Error {}

const session = {
  get token() { return sessionStorage.getItem(TOKEN); },
  keep(token) { sessionStorage.setItem(TOKEN, token); },
  forget() { sessionStorage.removeItem(TOKEN); },
};

// Take what the address brings, and take it out of the address.
async function arrive() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  if (fragment.has("token")) {
    session.keep(fragment.get("token"));
    history.replaceState(null, "", location.pathname + HOME);
    return;
  }
  const query = new URLSearchParams(location.search);
  if (!OIDC.issuer || !(query.has("state") && (query.has("code") || query.has("error")))) return;
  const journey = JSON.parse(sessionStorage.getItem(JOURNEY) ?? "null");
  sessionStorage.removeItem(JOURNEY);
  history.replaceState(null, "", location.pathname + (journey?.back ?? HOME));
  session.keep(await finishSignIn(query, journey));
}

function unguessable() {
  return inBase64Url(crypto.getRandomValues(new Uint8Array(32)));
}

function inBase64Url(bytes) {
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function fromIssuer(address, options) {
  let answer;
  try {
    answer = await fetch(address, { credentials: "omit", cache: "no-store", ...options });
  } catch {
    throw new SignInFailed(`${new URL(address).origin} cannot be reached from this page. It must answer, and allow the page's origin (CORS).`);
  }
  const body = await answer.json().catch(() => ({}));
  if (answer.ok) return body;
  throw new SignInFailed(`The issuer answered ${answer.status}${body.error ? `: ${body.error_description ?? body.error}` : ""}.`);
}

// OpenID Connect Discovery 1.0; the document must be the issuer's own.
async function discover() {
  const found = await fromIssuer(`${OIDC.issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
  if (found.issuer !== OIDC.issuer) throw new SignInFailed(`The issuer calls itself ${found.issuer}, not ${OIDC.issuer}.`);
  return found;
}

// The authorization code flow with PKCE (RFC 6749, 7636).
async function beginSignIn() {
  const endpoints = await discover();
  const journey = { state: unguessable(), nonce: unguessable(), verifier: unguessable(), token: endpoints.token_endpoint, back: location.hash || HOME };
  sessionStorage.setItem(JOURNEY, JSON.stringify(journey));
  const challenge = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(journey.verifier)));
  const address = new URL(endpoints.authorization_endpoint);
  for (const [name, value] of Object.entries({
    response_type: "code", client_id: OIDC.client, redirect_uri: location.origin + location.pathname, scope: OIDC.scope,
    state: journey.state, nonce: journey.nonce, code_challenge: inBase64Url(challenge), code_challenge_method: "S256",
  })) address.searchParams.set(name, value);
  location.assign(address);
}

async function finishSignIn(query, journey) {
  if (!journey || query.get("state") !== journey.state) {
    throw new SignInFailed("The answer belongs to another sign-in: its state is not the one that this page sent.");
  }
  if (query.has("iss") && query.get("iss") !== OIDC.issuer) throw new SignInFailed("The answer comes from another issuer.");
  if (query.has("error")) throw new SignInFailed(`The issuer refused: ${query.get("error_description") ?? query.get("error")}.`);
  const given = await fromIssuer(journey.token, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "authorization_code", code: query.get("code"), client_id: OIDC.client,
      redirect_uri: location.origin + location.pathname, code_verifier: journey.verifier,
    }),
  });
  checkIdentity(given.id_token, journey.nonce);
  if (!given.access_token) throw new SignInFailed("The issuer gave no access token.");
  return given.access_token;
}

// OpenID Connect Core 1.0, 3.1.3.7: had from the token endpoint itself, so TLS stands for the signature.
function checkIdentity(token, nonce) {
  let claims;
  try {
    const bytes = Uint8Array.from(atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
    claims = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw new SignInFailed("The issuer gave no ID token that can be read.");
  }
  const wrong = [
    [claims.iss !== OIDC.issuer, "issuer"],
    [![claims.aud].flat().includes(OIDC.client), "audience"],
    [claims.nonce !== nonce, "nonce"],
    [!(claims.exp * 1000 > Date.now()), "time of expiry"],
  ].filter(([is]) => is).map(([, name]) => name);
  if (wrong.length) throw new SignInFailed(`The ID token is not for this sign-in: wrong ${wrong.join(", ")}.`);
}

function signInPanel(why, failure) {
  const byHand = h("input", { type: "password", id: "by-hand", autocomplete: "off", spellcheck: "false" });
  const start = button("Sign in", async () => {
    start.disabled = true;
    try {
      await beginSignIn();
    } catch (error) {
      showSignIn(why, error);
    }
  }, "first");
  return h("div", { class: "sign-in stack" },
    h("h1", { tabindex: "-1" }, why ?? "Sign in"),
    failure && h("div", { class: "notice bad", role: "alert" }, h("h2", {}, "Signing in did not work"), h("p", {}, failure.message)),
    OIDC.issuer
      ? h("div", { class: "card tight" }, h("p", {}, "You sign in at ", h("span", { class: "mono" }, new URL(OIDC.issuer).host), " and come back here."), h("div", {}, start))
      : h("div", { class: "card stack" },
        h("p", {}, "This page shows nothing without a token of the API."),
        h("div", { class: "tight" }, h("h2", {}, "On this machine"), h("p", {}, "Open it with the command that hands the token over:"), h("pre", {}, "dream dashboard --open")),
        h("div", { class: "tight" }, h("h2", {}, "On AWS"), h("p", {}, "The deployment names no sign-in. Its operator sets ", h("span", { class: "mono" }, "dashboard_oidc_issuer"), " and ",
          h("span", { class: "mono" }, "dashboard_oidc_client_id"), ". Where the API is called with AWS credentials (IAM), the page cannot be used: it holds none."))),
    h("form", { class: "card tight", on: { submit: (event) => { event.preventDefault(); if (byHand.value.trim()) { session.keep(byHand.value.trim()); byHand.value = ""; show(); } } } },
      h("details", {}, h("summary", {}, "Use a token that you have"),
        h("div", { class: "bar" }, field("Bearer token", byHand, true), h("button", {}, "Use it")))));
}
