import type { Run } from "../resources/run.js";
import type { Job } from "../resources/job.js";

// Every name of another scheduler that this API accepts: the only place that lists them. Requests are translated before they are checked, so
// schemas and the OpenAPI document know Carillon's names only; docs/reference/spellings.md is generated from these rows.

/** The bodies that are translated: a job's, in POST, PUT, PATCH and batches, and a run's. */
export type SpelledBody = "job" | "run";

/** Our fields with their values, or the reason why the value has no single meaning. */
export type Meaning = { readonly ours: Readonly<Record<string, unknown>> } | { readonly refusal: string };

/** A field of another system. Names are paths with dots. */
export interface BodySpelling {
  readonly theirs: string;
  /** Our field; several where the value decides. */
  readonly ours: string;
  readonly of: readonly SpelledBody[];
  readonly example: unknown;
  /** Only such values are in the other system's spelling; the others are ours. Left out: all values. */
  readonly applies?: (value: unknown) => boolean;
  /** The meaning of the value; left out: the value is the same. */
  readonly read?: (value: unknown) => Meaning;
}

const both = ["job", "run"] as const satisfies readonly SpelledBody[];

const isText = (value: unknown): value is string => typeof value === "string";
const isNumber = (value: unknown): value is number => typeof value === "number";

/** Other systems count retries, which are the attempts after the first. */
const retries = (value: unknown): Meaning =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 9_999
    ? { ours: { "retry.max_attempts": Number(value) + 1 } }
    : { refusal: "Must be a whole number from 0 to 9999: the attempts after the first." };

const callback = (value: unknown): Meaning =>
  isText(value)
    ? { ours: { callbacks: [{ url: value, include: ["output", "error"] }] } }
    : { refusal: "Must be the address, as text, to which every end of a run is posted." };

export const priorityWords: Readonly<Record<string, number>> = {
  lowest: 0,
  low: 2,
  normal: 4,
  medium: 4,
  high: 7,
  highest: 9,
  urgent: 9,
  critical: 9,
};

function priority(value: unknown): Meaning {
  const number = priorityWords[String(value).toLowerCase()];
  if (number !== undefined) return { ours: { priority: number } };
  return { refusal: `Must be a whole number from 0 to 9, or one of ${Object.keys(priorityWords).join(", ")}.` };
}

const frequencies: readonly string[] = ["hourly", "daily", "weekly", "monthly", "yearly", "annually"];

function frequency(value: unknown): Meaning {
  const word = String(value).toLowerCase();
  if (frequencies.includes(word)) return { ours: { "schedule.cron": `@${word}` } };
  return {
    refusal: `Must be one of ${frequencies.join(", ")}. For others send schedule.cron, or schedule.every such as "90m".`,
  };
}

const interval = (value: unknown): Meaning =>
  isText(value)
    ? { ours: { "schedule.every": value } }
    : { refusal: 'Must be a duration with its unit, such as "5m" or "300s": a number alone has none.' };

const cronShape = /^(@\w+|\S+(\s+\S+){4,5})$/;
const durationShape = /^(\d+(\.\d+)?(ms|s|m|h|d|w))+$|^P(?=.)/i;
const instantShape = /^\d{4}-\d{2}-\d{2}/;

/** A schedule as text: a cron expression, an interval or an instant, which have different shapes. */
function scheduleText(value: unknown): Meaning {
  const text = String(value).trim();
  const every = /^@?every\s+(\S+)$/i.exec(text)?.[1];
  if (every !== undefined) return { ours: { "schedule.every": every } };
  if (instantShape.test(text)) return { ours: { "schedule.at": text } };
  if (durationShape.test(text)) return { ours: { "schedule.every": text } };
  if (frequencies.includes(text.toLowerCase())) return frequency(text);
  if (cronShape.test(text)) return { ours: { "schedule.cron": text } };
  return {
    refusal:
      'Is no cron expression, duration or instant. Send an object such as {"cron": "0 9 * * *"}, {"every": "15m"} or ' +
      '{"at": "2026-11-12T09:30:00Z"}.',
  };
}

/** The jobs that must have succeeded before this one starts. */
function upstream(value: unknown): Meaning {
  const jobs = isText(value) ? [value] : value;
  if (Array.isArray(jobs) && jobs.length > 0 && jobs.every(isText)) {
    return { ours: { "schedule.after": jobs.map((job) => ({ job })) } };
  }
  return {
    refusal: 'Must be a list of keys or ids of jobs. For conditions send schedule.after: [{"job": "extract"}].',
  };
}

const ownId = /^(job|run)_[0-9a-z]{26}$/;

const key = (value: unknown): Meaning =>
  isText(value) && ownId.test(value)
    ? { refusal: "The server sets the id of a job. Leave it out, or send a name of your own as key." }
    : { ours: { key: value } };

const job = ["job"] as const satisfies readonly SpelledBody[];
const run = ["run"] as const satisfies readonly SpelledBody[];

/** In this order, so that a later row sees the fields of the rows before it. */
export const bodySpellings: readonly BodySpelling[] = [
  { theirs: "job_type", ours: "task", of: both, example: "email" },
  { theirs: "task_name", ours: "task", of: both, example: "email" },
  { theirs: "user_id", ours: "owner", of: both, example: "u003" },
  { theirs: "queue_name", ours: "queue", of: both, example: "mail" },
  { theirs: "job_id", ours: "key", of: job, example: "nightly-report", read: key },
  { theirs: "task_id", ours: "key", of: job, example: "nightly-report", read: key },
  {
    theirs: "schedule",
    ours: "schedule.cron, .every or .at",
    of: job,
    example: "0 9 * * *",
    applies: isText,
    read: scheduleText,
  },
  { theirs: "cron", ours: "schedule.cron", of: job, example: "0 9 * * *" },
  { theirs: "cron_expression", ours: "schedule.cron", of: job, example: "0 9 * * *" },
  { theirs: "frequency", ours: "schedule.cron", of: job, example: "daily", read: frequency },
  { theirs: "interval", ours: "schedule.every", of: job, example: "5m", read: interval },
  { theirs: "schedule_time", ours: "schedule.at", of: job, example: "2099-11-12T09:30:00Z" },
  { theirs: "run_at", ours: "schedule.at", of: job, example: "2099-11-12T09:30:00Z" },
  { theirs: "delay", ours: "schedule.delay", of: job, example: "1h" },
  { theirs: "schedule_time", ours: "run_at", of: run, example: "2099-11-12T09:30:00Z" },
  { theirs: "depends_on", ours: "schedule.after", of: job, example: ["extract"], read: upstream },
  { theirs: "dependencies", ours: "schedule.after", of: job, example: ["extract"], read: upstream },
  { theirs: "timezone", ours: "schedule.time_zone", of: job, example: "Europe/Paris" },
  { theirs: "retry_policy", ours: "retry", of: both, example: { max_attempts: 4 } },
  { theirs: "retry", ours: "retry.max_attempts (one more)", of: both, example: 3, applies: isNumber, read: retries },
  { theirs: "retries", ours: "retry.max_attempts (one more)", of: both, example: 3, read: retries },
  { theirs: "max_retries", ours: "retry.max_attempts (one more)", of: both, example: 3, read: retries },
  { theirs: "retry.max_retries", ours: "retry.max_attempts (one more)", of: both, example: 3, read: retries },
  { theirs: "max_attempts", ours: "retry.max_attempts", of: both, example: 4 },
  { theirs: "priority", ours: "priority (0 to 9)", of: both, example: "high", applies: isText, read: priority },
  { theirs: "callback_url", ours: "callbacks", of: both, example: "https://example.com/done", read: callback },
  { theirs: "idempotency_key", ours: "dedupe.key", of: run, example: "order-4711" },
];

/** Names with more than one meaning, or without one here: refused with the right spelling. */
export const bodyHints: readonly {
  readonly theirs: string;
  readonly of: readonly SpelledBody[];
  readonly hint: string;
}[] = [
  { theirs: "name", of: both, hint: "Send task for the work that runs, or key for the name of the job." },
  {
    theirs: "idempotency_key",
    of: job,
    hint: "Only POST /v1/jobs takes it. A batch takes the header Idempotency-Key; PUT and PATCH need none, and key identifies the job.",
  },
  { theirs: "enabled", of: job, hint: "Call :pause or :resume of the job." },
  { theirs: "tags", of: both, hint: 'Send labels: {"name": "value"}.' },
  {
    theirs: "start_time",
    of: job,
    hint: "Send schedule.at for one run at that time, or schedule.starts_at for a schedule that begins then.",
  },
  { theirs: "retry_delay", of: both, hint: 'Send retry.initial, such as "30s".' },
  {
    theirs: "job_id",
    of: run,
    hint: "Call POST /v1/jobs/{id}:runNow to run a job, or send dedupe.key to identify the run.",
  },
  { theirs: "task_id", of: run, hint: "Send dedupe.key to identify the run; the server sets its id." },
  ...["cron", "cron_expression", "schedule", "interval", "frequency"].map((theirs) => ({
    theirs,
    of: run,
    hint: "A run starts once, at run_at or after delay. POST /v1/jobs takes schedules.",
  })),
  ...["depends_on", "dependencies"].map((theirs) => ({
    theirs,
    of: run,
    hint: "A run waits for no job. POST /v1/jobs takes schedule.after.",
  })),
];

/** A parameter of a list. */
export const querySpellings: readonly { readonly theirs: string; readonly ours: string }[] = [
  { theirs: "user_id", ours: "owner" },
  { theirs: "state", ours: "status" },
  { theirs: "job_type", ours: "task" },
  { theirs: "limit", ours: "page_size" },
  { theirs: "per_page", ours: "page_size" },
  { theirs: "cursor", ours: "page_token" },
];

const pages = "Pages follow each other: send the next_page_token of the last page as page_token.";
export const queryHints: Readonly<Record<string, string>> = { page: pages, offset: pages };

export interface PathSpelling {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly theirs: string;
  /** The path of an operation. */
  readonly ours: string;
  /** The answer is also in the other system's names. */
  readonly namesInAnswer?: true;
  readonly note?: string;
}

const answered = { namesInAnswer: true } as const;
const verbs = ["run-now", "run", "trigger"] as const;

/** Each is served with /v1 before it, too. */
export const pathSpellings: readonly PathSpelling[] = [
  { method: "POST", theirs: "/task", ours: "/v1/jobs", ...answered },
  { method: "POST", theirs: "/tasks", ours: "/v1/jobs", ...answered },
  ...(["GET", "PUT", "PATCH", "DELETE"] as const).map((method): PathSpelling => ({
    method,
    theirs: "/task/{id}",
    ours: "/v1/jobs/{id}",
    ...answered,
  })),
  { method: "POST", theirs: "/task/{id}/cancel", ours: "/v1/jobs/{id}:cancel", ...answered },
  { method: "POST", theirs: "/task/{id}/retry", ours: "/v1/jobs/{id}:retry" },
  ...verbs.map((verb): PathSpelling => ({
    method: "POST",
    theirs: `/jobs/{id}/${verb}`,
    ours: "/v1/jobs/{id}:runNow",
  })),
  {
    method: "GET",
    theirs: "/job/executions",
    ours: "/v1/runs",
    ...answered,
    note: "with worker_id and without status: only running runs",
  },
  { method: "GET", theirs: "/health", ours: "/readyz", note: "for a liveness probe use /livez" },
  { method: "GET", theirs: "/healthz", ours: "/readyz", note: "for a liveness probe use /livez" },
];

/** Changes that apply to any address before it is routed. */
export const addressRewrites: readonly { readonly theirs: RegExp; readonly ours: string; readonly words: string }[] = [
  { theirs: /^\/api(?=\/)/, ours: "", words: "`/api` before any address, as in `/api/v1/jobs`" },
  {
    theirs: /^(\/v1)?\/tasks\/(?=job_[0-9a-z]{26}(?:[/?:]|$)|@|%40)/,
    ours: "$1/task/",
    words: "`/tasks/{id}` with the id of a job, or @ and its key, as `/task/{id}`",
  },
];

/** The address that is routed for one in the spelling of another system. */
export function ownAddress(url: string): string {
  return addressRewrites.reduce((address, { theirs, ours }) => address.replace(theirs, ours), url);
}

/** The names that an answer about a job carries besides ours. */
export interface JobInOtherSpelling extends Job {
  readonly [theirs: string]: unknown;
}

interface AnswerSpelling {
  readonly theirs: string;
  readonly ours: string;
  readonly of: (job: Job) => unknown;
}

const logUrl = (of: Pick<Run, "id"> | null): string | null => (of === null ? null : `/v1/runs/${of.id}/logs`);

export const answerSpellings: readonly AnswerSpelling[] = [
  { theirs: "job_id", ours: "id", of: ({ id }) => id },
  { theirs: "task_id", ours: "id", of: ({ id }) => id },
  { theirs: "job_type", ours: "task", of: ({ task }) => task },
  { theirs: "user_id", ours: "owner", of: ({ owner }) => owner },
  { theirs: "cron_expression", ours: "schedule.cron", of: ({ schedule }) => schedule.cron ?? null },
  { theirs: "schedule_time", ours: "schedule.at", of: ({ schedule }) => schedule.at ?? null },
  { theirs: "timezone", ours: "schedule.time_zone", of: ({ schedule }) => schedule.time_zone ?? null },
  { theirs: "next_run", ours: "next_run_at", of: ({ next_run_at: at }) => at },
  { theirs: "next_run_time", ours: "next_run_at", of: ({ next_run_at: at }) => at },
  {
    theirs: "retry_policy",
    ours: "retry, and max_retries, which is max_attempts - 1",
    of: ({ retry }) => ({ ...retry, max_retries: retry.max_attempts - 1 }),
  },
  {
    theirs: "retry_count",
    ours: "last_run.attempt - 1: the retries of the last run",
    of: ({ last_run: last }) => Math.max(0, (last?.attempt ?? 0) - 1),
  },
  {
    theirs: "callback_url",
    ours: "callbacks[].url of the first callback with one",
    of: ({ callbacks }) => callbacks.find(({ url }) => url !== undefined)?.url ?? null,
  },
  { theirs: "log_url", ours: "the log of last_run", of: ({ last_run: last }) => logUrl(last) },
];

/** The runs in `history`, which only an answer about a single job has. */
export const historyLength = 20;

/** The job with the names of other systems besides ours. */
export function inOtherSpelling(wire: Job, history?: readonly Run[]): JobInOtherSpelling {
  const names = answerSpellings.map(({ theirs, of }) => [theirs, of(wire)] as const);
  return {
    ...wire,
    ...Object.fromEntries(names),
    ...(history && { history: history.map((one) => ({ ...one, log_url: logUrl(one) })) }),
  };
}
