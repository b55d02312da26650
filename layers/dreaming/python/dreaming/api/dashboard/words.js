// How numbers, times and the vocabulary are written.

const KINDS = ["fact", "preference", "decision", "entity", "constraint", "observation"];
const PASSES = ["synthesis", "consolidation", "embedding", "contradictions", "decay", "autonomy"];
const SCOPES = [["org", "Organization"], ["private", "My private notes"], ["shared", "Shared"]];
const AGES = [[0, "under a week"], [7, "1–4 weeks"], [30, "1–3 months"], [90, "3–12 months"], [365, "over a year"]];

const DAY_MS = 86_400_000;
const counts = new Intl.NumberFormat("en");
const days = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const shortDays = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
const moments = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });
const spans = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

const count = (number) => counts.format(number);
const counted = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;
const sure = (share) => share.toFixed(2);
const shortDay = (value) => shortDays.format(new Date(value));
const plain = (name) => name.replaceAll("_", " ");
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function time(value, how = days) {
  if (!value) return "never";
  return h("time", { datetime: value, title: moments.format(new Date(value)) }, how.format(new Date(value)));
}

function span(value, now = Date.now()) {
  const past = new Date(value).getTime() - now;
  const size = Math.abs(past);
  const [unit, length] = size < 3_600_000 ? ["minute", 60_000] : size < DAY_MS ? ["hour", 3_600_000]
    : size < 60 * DAY_MS ? ["day", DAY_MS] : size < 730 * DAY_MS ? ["month", 30.44 * DAY_MS] : ["year", 365.25 * DAY_MS];
  return spans.format(Math.round(past / length), unit);
}

function ago(value) {
  return value ? h("time", { datetime: value, title: moments.format(new Date(value)) }, span(value)) : "never";
}

function sliceName(scope, owner) {
  if (scope === "private") return owner ? `private: ${owner}` : "private";
  return scope === "org" ? "organization" : scope;
}

// What a person does about a hold, as the page has it.
const REMEDIES = {
  disabled: "The master switch is off. It is set in the deployment's environment: DREAMING_ENABLED=true.",
  not_enrolled: "The organization is not enrolled. Switch it on in the settings.",
  no_model_consent: "The organization has not agreed that its notes go to the chat model.",
  consent_missing: "The organization has not agreed that its notes go to the chat model.",
  no_embedding_consent: "The organization has not agreed that its text goes to the embedder.",
  embedding_off: "No embedder is chosen in the deployment.",
  settings_unreadable: "A stored setting cannot be read. Return it to its default in the settings.",
  missing_key: "The provider's key is missing. Put it where the deployment keeps its keys.",
  misconfigured: "A setting does not fit. Correct the one that is named.",
  provider_misconfigured: "The provider does not take the model or the address.",
  budget_spent: "Today's calls are spent. Wait for tomorrow (UTC), or raise the budget.",
  throttled: "The provider asks to slow down. The next tick tries again.",
  provider_unavailable: "The provider cannot be reached. The next tick tries again.",
  database_unavailable: "The database went away. The next tick tries again.",
};

function remedy({ reason, remedy: told, setting }) {
  return [REMEDIES[reason] ?? `${capital(told)}.`, setting];
}

// Why a recall compared nothing, or words alone.
const RECALL_REASONS = {
  off: "Conversations are neither captured nor found in this deployment.",
  no_embedding_consent: "Only words were compared: the organization has not agreed that its text goes to the embedder.",
  no_embedder: "Only words were compared: the deployment has no embedder.",
  not_embedded_yet: "Only words were compared: no conversation searched has a vector yet; the next run makes them.",
};

const STATUS_KINDS = { drained: "good", running: "accent", held: "warn", stalled: "bad", stopped: "warn", replaced: "" };

const STATUS_SENTENCES = {
  drained: "came to its end",
  running: "is under way",
  held: "waits for something outside",
  stalled: "made no progress and stopped",
  stopped: "was switched off",
  replaced: "was taken over by a later run",
};

const ARCHIVE_SENTENCES = {
  faded: "It faded: nothing confirmed it for long enough.",
  superseded: "Something newer took its place.",
  rejected: "It lost a conflict.",
  person: "A person archived it.",
  sourceless: "No note supports it any more.",
  merged: "It was merged into another belief.",
};
