// What the page asks of the API, and what becomes of a refusal.

class Problem extends Error {
  constructor(status, body, retryAfter) {
    super(body.detail ?? body.title ?? "The request failed");
    Object.assign(this, { status, title: body.title ?? `Status ${status}`, detail: body.detail, fields: body.fields ?? [], correlation: body.correlation_id, retryAfter });
  }
}

async function ask(method, path, { query = {}, body, key } = {}) {
  const address = new URL(path, location.origin);
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") address.searchParams.set(name, value);
  }
  const headers = { Authorization: `Bearer ${session.token}`, Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (key) headers["Idempotency-Key"] = key;
  let answer;
  try {
    answer = await fetch(address, { method, headers, cache: "no-store", credentials: "omit", body: body === undefined ? undefined : JSON.stringify(body) });
  } catch {
    throw new Problem(0, { title: "The API cannot be reached", detail: "There was no answer. Check the connection; on your machine, check that `dream up` or `dream dashboard` still runs." });
  }
  if (answer.ok) return answer.json();
  const told = await answer.json().catch(() => ({}));
  if (answer.status === 401) {
    session.forget();
    showSignIn("Your sign-in has ended");
  }
  throw new Problem(answer.status, told, Number(answer.headers.get("Retry-After")) || null);
}

const get = (path, query) => ask("GET", path, { query });

// A whole list, page after page; for those that a person chooses from.
async function getAll(path, name, query) {
  const found = [];
  for (let cursor = null; ;) {
    const page = await get(path, { ...query, limit: 200, cursor });
    found.push(...page[name]);
    cursor = page.next_cursor;
    if (!cursor) return found;
  }
}

// Sent again after a refusal that asks to wait; the key lets it be done once.
async function post(path, { query, body } = {}) {
  const key = crypto.randomUUID?.() ?? unguessable();
  for (let tries = 0; ; tries += 1) {
    try {
      return await ask("POST", path, { query, body, key });
    } catch (problem) {
      if (problem.status !== 503 || tries === MOST_WAITS) throw problem;
      await new Promise((done) => { setTimeout(done, 1000 * (problem.retryAfter ?? 5)); });
    }
  }
}

const MOST_WAITS = 4;
