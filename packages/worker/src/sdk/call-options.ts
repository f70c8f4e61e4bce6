import {
  limits,
  namespacesPattern,
  option,
  type OptionHints,
  plainNameLength,
  plainNamePattern,
  printablePattern,
  workerLimits,
} from "@carillon/contract/check";
import { CarillonError, dedupeActions, misfirePolicies, overlapPolicies } from "@carillon/core";
import type { WorkerEvent } from "../runtime/worker.js";
import {
  labelsOption,
  named,
  nameOption,
  ownerOption,
  runDefaultFields,
  runDefaultHints,
  versionOption,
} from "./run-options.js";
import type { StandardSchema, TaskDefinition } from "./task.js";

const { always, anything, callable, custom, duration, flag, list, number, object, oneOf, record, required, text } =
  option;
const { time, wallTime, whole } = option;

const scheduleHint = 'Write app.schedule(task, key, { cron: "0 9 * * *" }).';
const scheduleNames = ["cron", "every", "schedule", "interval", "repeat", "timezone", "tz", "at", "startsat", "endsat"];
const payloadNames = ["data", "args", "input", "params", "body"];
const dedupeNames = [
  "jobid",
  "jobkey",
  "idempotencykey",
  "uniquekey",
  "singletonkey",
  "unique",
  "key",
  "dedupekey",
  "id",
];

const isStandardSchema = (value: unknown): boolean => {
  if ((typeof value !== "object" || value === null) && typeof value !== "function") return false;
  const { "~standard": standard } = value as { readonly "~standard"?: { readonly validate?: unknown } };
  return typeof standard?.validate === "function";
};

export const taskOptions = object(
  {
    ...runDefaultFields,
    name: required(nameOption),
    payload: custom<StandardSchema<never, unknown>>(
      isStandardSchema,
      "a Standard Schema, such as z.object({ userId: z.string() })",
    ),
    run: callable<(...given: never[]) => unknown>(),
    runBatch: callable<(...given: never[]) => unknown>(),
    batchSize: whole(1, workerLimits.slots),
    weight: whole(1, workerLimits.slots),
    versions: list(versionOption, { maxItems: workerLimits.versions, examples: [["2", "3"]] }),
  },
  {
    title: "TaskOptions",
    examples: [{ name: "email.welcome" }],
    check: refuseOtherHandlers,
    hints: {
      ...runDefaultHints,
      ...named(scheduleNames, `A task has no schedule. ${scheduleHint}`),
      ...named(
        ["delay", "runat", "dedupe", "labels", "owner"],
        "It belongs to each run: app.enqueue(task, payload, …).",
      ),
      ...named(["handler", "process", "processor", "execute", "perform", "handle", "fn", "work"], "Write run."),
      ...named(["schema", "input", "validate", "parameters"], "Write payload: a Standard Schema."),
      ...named(["id", "type", "jobtype"], "Write name."),
      ...named(["defaults"], "Write its members beside name, as the options of task()."),
      ...named(["slots"], "Write weight: the number of slots that a run uses."),
    },
  },
);

/** A task has one handler. */
function refuseOtherHandlers(value: unknown): void {
  const { run, runBatch, batchSize } = value as Readonly<Record<string, unknown>>;
  if (run === undefined && runBatch === undefined) {
    const detail = "run is required: the function that executes the task, such as run: async (payload) => payload.";
    throw new CarillonError("field_missing", detail);
  }
  if (run !== undefined && runBatch !== undefined)
    throw new CarillonError("field_invalid", "run and runBatch exclude each other. Leave one of them out.");
  if (runBatch === undefined && batchSize !== undefined)
    throw new CarillonError("field_invalid", "batchSize needs runBatch, and there is none.");
}

const enqueueFields = {
  ...runDefaultFields,
  delay: duration("3d"),
  runAt: time,
  labels: labelsOption,
  owner: ownerOption,
  dedupe: object(
    {
      key: text({ minLength: 1, maxLength: limits.nameLength, pattern: printablePattern }),
      on: oneOf(dedupeActions),
      window: duration("1h"),
    },
    { examples: [{ key: "welcome:u003" }] },
  ),
};

const enqueueHints: OptionHints = {
  ...runDefaultHints,
  ...named(scheduleNames, `A run has no schedule. ${scheduleHint}`),
  ...named(["startafter", "runin", "countdown", "delayms", "wait"], 'Write delay: "3d", or runAt.'),
  ...named(["at", "eta", "time", "scheduledfor", "scheduledat", "startat", "when", "scheduletime"], "Write runAt."),
  ...named(dedupeNames, 'Write dedupe: { key: "…" }.'),
  ...named(["tags"], 'Write labels: { team: "billing" }.'),
  ...named(payloadNames, "The payload is the second argument."),
  ...named(
    ["tx", "notify", "transaction"],
    "It works only with the engine in this process: carillon({ databaseUrl }) or carillon({ pool }).",
  ),
};

export const enqueueOptions = object(enqueueFields, {
  title: "EnqueueOptions",
  examples: [{ delay: "3d" }],
  hints: enqueueHints,
});

/** Options of runs that are stored in a transaction of the caller. */
export const transactionOptions = object(
  {
    ...enqueueFields,
    tx: custom<{ query(text: string, values: unknown[]): Promise<unknown> }>(
      hasQuery,
      "a client of pg with an open transaction, or an object with query(text, values)",
    ),
    notify: flag,
  },
  {
    title: "EnqueueOptions",
    examples: [{ delay: "3d" }],
    hints: { ...enqueueHints, ...named(["tx", "transaction", "client"], "Write tx.") },
  },
);

function hasQuery(value: unknown): boolean {
  return typeof value === "object" && value !== null && typeof (value as { query?: unknown }).query === "function";
}

const { dedupe: _, ...testRunFields } = enqueueFields;

/** Of `enqueue` in the test kit. */
export const testEnqueueOptions = object(testRunFields, {
  title: "EnqueueOptions",
  examples: [{ delay: "3d" }],
  hints: { ...enqueueHints, dedupe: "The test kit creates every run, so leave it out." },
});

export const enqueueItems = list(
  object(
    { ...enqueueFields, payload: anything },
    {
      title: "EnqueueItem",
      examples: [{ payload: { to: "u003" }, delay: "3d" }],
      hints: {
        ...enqueueHints,
        ...named(payloadNames, "Write payload."),
        ...named(["tx", "notify"], "enqueueMany has no transaction: call enqueue for each run."),
      },
    },
  ),
);

export const scheduleOptions = object(
  {
    ...runDefaultFields,
    cron: text({ minLength: 1, maxLength: limits.cronLength, examples: ["0 9 * * *"] }),
    timeZone: text({ minLength: 1, maxLength: limits.parsedTextLength, examples: ["Europe/Paris"] }),
    every: duration("15m"),
    at: wallTime,
    manual: always,
    jitter: duration("30s"),
    startsAt: wallTime,
    endsAt: wallTime,
    maxRuns: whole(1, 2_147_483_647),
    dayMatch: oneOf(["or", "and"]),
    dst: object(
      { gap: oneOf(["after", "skip"]), overlap: oneOf(["first", "second", "both"]) },
      { examples: [{ gap: "skip" }] },
    ),
    calendars: object(
      {
        exclude: calendarNames(),
        only: calendarNames(),
        roll: oneOf(["skip", "next", "previous", "modified_following"]),
      },
      { examples: [{ exclude: ["de-holidays"] }] },
    ),
    after: list(
      object(
        {
          job: required(text({ minLength: 1, maxLength: limits.nameLength })),
          on: oneOf(["success", "failure", "finish"]),
          when: text({ minLength: 1, maxLength: limits.conditionLength }),
        },
        { examples: [{ job: "etl.extract" }] },
      ),
      { minItems: 1, maxItems: limits.upstreams, examples: [[{ job: "etl.extract" }]] },
    ),
    mode: oneOf(["all", "any"]),
    payload: anything,
    overlap: oneOf(overlapPolicies),
    misfire: oneOf(misfirePolicies),
    misfireThreshold: duration("1m"),
    catchupWindow: duration("1d"),
    catchupLimit: whole(1, 10_000),
    catchupRate: number(0.01, 1_000),
    labels: labelsOption,
    owner: ownerOption,
  },
  {
    title: "ScheduleOptions",
    examples: [{ cron: "0 9 * * *" }],
    hints: {
      ...runDefaultHints,
      tz: "Write timeZone.",
      ...named(["pattern", "cronexpression", "expression", "schedule", "repeat"], 'Write cron: "0 9 * * *".'),
      ...named(["interval", "repeatevery", "everyms", "frequency"], 'Write every: "15m".'),
      ...named(["runat", "date", "when", "time", "scheduletime", "delay"], "Write at: the time of the only run."),
      ...named(["key", "id", "name", "jobid"], "The key of the job is the second argument."),
      ...named(payloadNames, "Write payload."),
      ...named(["startdate", "start", "from"], "Write startsAt."),
      ...named(["enddate", "end", "until"], "Write endsAt."),
      ...named(["dependson", "dependencies", "upstream"], 'Write after: [{ job: "etl.extract" }].'),
      ...named(["tags"], 'Write labels: { team: "billing" }.'),
    },
  },
);

function calendarNames() {
  const name = text({ minLength: 1, maxLength: plainNameLength, pattern: plainNamePattern });
  return list(name, { maxItems: limits.calendars, examples: [["de-holidays"]] });
}

/** A longer timer would fire at once. */
const maxTimerMs = 2_147_483_647;

export const taskListOption = list(custom<TaskDefinition<never, unknown>>(isTask, "what task() returned"), {
  minItems: 1,
  maxItems: workerLimits.tasks,
});

/** What `task()` returned, by this copy of the package or another. */
export function isTask(value: unknown): value is TaskDefinition<never, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const { handler, defaults, schema } = value as Partial<TaskDefinition<never, unknown>>;
  return typeof handler === "object" && typeof defaults === "object" && schema !== undefined;
}

export const workerSettings = object(
  {
    tasks: required(taskListOption),
    queues: record(whole(1, workerLimits.slots), {
      propertyNames: nameOption,
      maxProperties: workerLimits.queues,
      examples: [{ default: 10 }],
      check: refuseNoQueue,
    }),
    namespaces: list(text({ pattern: namespacesPattern }), {
      maxItems: workerLimits.namespaces,
      examples: [["billing"]],
    }),
    name: text({ minLength: 1, maxLength: limits.nameLength, pattern: printablePattern }),
    labels: labelsOption,
    spot: flag,
    noticeMs: number(0, maxTimerMs),
    graceMs: number(0, maxTimerMs),
    onEvent: callable<(event: WorkerEvent) => void>(),
    signals: flag,
  },
  {
    title: "WorkerSettings",
    check: refuseDuplicates,
    hints: {
      ...named(["concurrency", "slots", "maxconcurrency", "limit", "parallel"], "Write queues: { default: 10 }."),
      ...named(["queue"], "Write queues: { mail: 10 }, the slots of each queue."),
      ...named(["task", "handlers"], "Write tasks: [hello]."),
      ...named(["url", "token", "databaseurl"], "It belongs to carillon()."),
      ...named(["namespace"], 'Write namespaces: ["billing"].'),
      ...named(["grace", "graceperiod", "shutdowntimeout", "timeout"], "Write graceMs: 30_000."),
    },
  },
);

function refuseNoQueue(value: unknown): void {
  if (Object.keys(value as object).length === 0)
    throw new CarillonError("field_invalid", "Has no queue. Name at least one, or leave it out.");
}

function refuseDuplicates(value: unknown): void {
  const { tasks } = value as { readonly tasks?: readonly unknown[] };
  const names = Array.isArray(tasks) ? tasks.filter(isTask).map(({ name }) => name) : [];
  const double = names.find((name, index) => names.indexOf(name) !== index);
  if (double === undefined) return;
  const detail = `Two tasks are named ${JSON.stringify(double)}.`;
  throw new CarillonError("field_invalid", detail, {
    items: [{ pointer: "/tasks", code: "field_invalid", detail }],
  });
}
