import type { IdPrefix } from "../ids/id.js";
import { similarWord } from "../spelling/similar-word.js";
import type { DurationMs, Instant } from "../time/instant.js";

/** Names of the classes in which jobs fire, in their order. */
export const priorityClasses = ["high", "normal", "low"] as const;

export type PriorityClass = (typeof priorityClasses)[number];

/**
 * A field of an event. The form defines how users see the value: ids get their prefix; on the wire, instants are RFC 3339 and milliseconds
 * are whole numbers. Plain values stay as they are.
 */
export interface EventField<Value = unknown> {
  readonly form: IdPrefix | "instant" | "milliseconds" | "plain";
  /** Never set: it carries the type of the value. */
  readonly value?: Value;
}

const id = (prefix: IdPrefix): EventField<string> => ({ form: prefix });
const optionalId = (prefix: IdPrefix): EventField<string | null> => ({ form: prefix });
const plain = <Value>(): EventField<Value> => ({ form: "plain" });
const text = plain<string>();
const count = plain<number>();
const instant: EventField<Instant> = { form: "instant" };
const milliseconds: EventField<DurationMs> = { form: "milliseconds" };
const optionalMilliseconds: EventField<DurationMs | null> = { form: "milliseconds" };

const job = { jobId: id("job") };
const run = { jobId: optionalId("job"), runId: id("run"), task: text, queue: text };
const fired = {
  ...run,
  jobId: id("job"),
  trigger: plain<"schedule" | "after">(),
  priorityClass: plain<PriorityClass>(),
  scheduledFor: instant,
  lateMs: milliseconds,
};
const delayed = { ...run, delayMs: milliseconds };
const ended = { ...run, durationMs: milliseconds };
const queue = { queue: text };

/**
 * The events that users see, each with its fields: the same for `app.on()` of the SDK and, in snake case, for `GET /v1/events`. The part of
 * a name before the dot is its subject and its group.
 */
export const eventList = {
  "run.fired": { meaning: "An occurrence of a job became a run.", fields: fired },
  "run.blocked": { meaning: "An occurrence became a run, which waits for other runs of its job.", fields: fired },
  "run.late": { meaning: "A run fired later than the misfire threshold of its job.", fields: fired },
  "run.sla_breached": {
    meaning: "A run started or ended later than its SLA allows.",
    fields: { ...run, sla: plain<"start" | "finish">(), dueAt: instant, lateMs: milliseconds },
  },
  "run.started": {
    meaning: "A worker was assigned a run and starts it.",
    fields: { ...run, waitedMs: milliseconds },
  },
  "run.progress": {
    meaning: "A handler reported its progress.",
    fields: { ...run, fraction: plain<number>(), text: plain<string | null>() },
  },
  "run.retrying": { meaning: "An attempt failed; the next one starts after the delay.", fields: delayed },
  "run.snoozed": {
    meaning: "A handler asked to be called again after the delay; no attempt was spent.",
    fields: delayed,
  },
  "run.waiting": {
    meaning: "A handler returned and its run waits for a callback, at most for the timeout.",
    fields: { ...run, timeoutMs: milliseconds },
  },
  "run.succeeded": { meaning: "A run ended with success.", fields: ended },
  "run.failed": { meaning: "A run ended with a failure, all attempts included.", fields: ended },
  "run.cancelled": { meaning: "A run was cancelled.", fields: ended },
  "job.created": { meaning: "A job was created.", fields: job },
  "job.updated": { meaning: "The definition of a job was changed.", fields: job },
  "job.paused": { meaning: "A caller paused a job.", fields: job },
  "job.resumed": { meaning: "A caller resumed a job.", fields: job },
  "job.cancelled": { meaning: "A job was cancelled.", fields: job },
  "job.quarantined": {
    meaning: "The scheduler paused a job that cannot fire, so that the others do.",
    fields: { ...job, reason: text },
  },
  "queue.updated": { meaning: "The settings of a queue were changed.", fields: queue },
  "queue.paused": { meaning: "A queue was paused.", fields: queue },
  "queue.resumed": { meaning: "A queue was resumed.", fields: queue },
  "task.defaults_changed": {
    meaning: "A worker registered other defaults for a task than the workers before it.",
    fields: { task: text },
  },
  "worker.lost": {
    meaning: "A node declared a worker dead. Other workers get its runs, or the runs fail if they were lost too often.",
    fields: { workerId: id("wrk"), worker: text, runs: count },
  },
  "shards.taken_over": {
    meaning: "A node took shards of a lost node. Each node that took some sends one, to every namespace.",
    fields: {
      nodeId: id("node"),
      fromNodeId: id("node"),
      shards: count,
      takeoverMs: optionalMilliseconds,
    },
  },
} as const satisfies Readonly<
  Record<string, { readonly meaning: string; readonly fields: Readonly<Record<string, EventField>> }>
>;

export type EventType = keyof typeof eventList;

export const eventTypes: readonly EventType[] = Object.keys(eventList) as EventType[];

type FieldsOf<Type extends EventType> = (typeof eventList)[Type]["fields"];

export type EventFieldName = { [Type in EventType]: keyof FieldsOf<Type> }[EventType];

/** The fields of one type of event, with bare UUIDs inside the engine and with prefixed ids for users. */
export type EventData<Type extends EventType> = {
  readonly [Name in keyof FieldsOf<Type>]: FieldsOf<Type>[Name] extends EventField<infer Value> ? Value : never;
};

/** An event of the list, discriminated by its type. */
export type ListedEvent = { [Type in EventType]: { readonly type: Type } & EventData<Type> }[EventType];

/** The event of a run that ended with this status. */
export const runEndEvents = {
  succeeded: "run.succeeded",
  failed: "run.failed",
  cancelled: "run.cancelled",
} as const satisfies Readonly<Record<string, EventType>>;

export type RunEndEvent = (typeof runEndEvents)[keyof typeof runEndEvents];

const runEndTypes: ReadonlySet<string> = new Set(Object.values(runEndEvents));

export function isRunEnd<Event extends { readonly type: string }>(
  event: Event,
): event is Extract<Event, { readonly type: RunEndEvent }> {
  return runEndTypes.has(event.type);
}

/** The subjects of events: the parts of their names before the dot. */
export const eventGroups: readonly string[] = [...new Set(eventTypes.map(groupOf))];

function groupOf(type: string): string {
  return type.split(".", 1)[0] ?? type;
}

/** Why a name of an event is refused: names the most similar one, or else those of the same group. */
export function unknownEventText(given: string, known: readonly string[]): string {
  const prefix = `${groupOf(given)}.`;
  const group = known.filter((name) => name.startsWith(prefix));
  const verbs = group.map((name) => name.slice(prefix.length));
  const verb = similarWord(given.slice(prefix.length), verbs);
  const similar = group.length === 0 ? similarWord(given, known) : verb && prefix + verb;
  const others = `The events are ${(group.length > 0 ? group : known).join(", ")}.`;
  const hint = similar === undefined ? others : `Did you mean ${similar}?`;
  return `${JSON.stringify(given)} is not an event. ${hint}`;
}
