import { type DurationMs, formatDuration, type Instant, type JobSpec } from "@carillon/core";
import type { Static } from "typebox";
import { Findings } from "../check/findings.js";
import { object } from "../fields.js";
import type { RefuseTarget } from "./end-callback.js";
import { runLimits } from "./run-limits.js";
import { policyFields, policyRules, runFields, runPolicy } from "./run-policy.js";

interface PayloadFault {
  readonly pointer: string;
  readonly message: string;
  /** address_refused: its task may not connect to the address; left out: its form is wrong. */
  readonly code?: "address_refused";
}

/** Returns the faults of a payload, with pointers from the payload on; none for a task without a known schema. */
export type CheckPayload = (task: string, payload: unknown) => readonly PayloadFault[];

export function addPayloadFaults(
  check: CheckPayload | undefined,
  task: string,
  payload: unknown,
  findings: Findings,
): void {
  for (const fault of check?.(task, payload) ?? []) addPayloadFault(fault, findings);
}

/** The faults of a payload that runs may complete or replace: only an address that none of them may have. */
export function addAddressFaults(
  check: CheckPayload | undefined,
  task: string,
  payload: unknown,
  findings: Findings,
): void {
  for (const fault of check?.(task, payload) ?? [])
    if (fault.code === "address_refused") addPayloadFault(fault, findings);
}

function addPayloadFault({ pointer, message, code }: PayloadFault, findings: Findings): void {
  findings.add(`/payload${pointer}`, code ?? "payload_invalid", message);
}

export interface RequestContext {
  readonly now: Instant;
  /** An instant further in the past than this is refused; a day by default. */
  readonly catchupWindowMs?: DurationMs;
  /** The definition that the request replaces. It keeps what the request leaves out, such as the anchor of an interval. */
  readonly current?: JobSpec;
  /** The job's payload, where the request does not carry it. */
  readonly payload?: { readonly value: unknown };
  /** Checks payloads of tasks that have a schema. */
  readonly checkPayload?: CheckPayload;
  /** Names addresses that no callback may have; without it none is refused. */
  readonly refuseTarget?: RefuseTarget;
  /** The defaults of a task; without it, as for a change of a job, there are none. */
  readonly defaultsOf?: DefaultsOf;
}

const defaultCatchupWindowMs: DurationMs = 86_400_000;

/** Records an instant that lies further in the past than the request may name. */
export function refuseLongPast(
  instant: Instant,
  { now, catchupWindowMs = defaultCatchupWindowMs }: Pick<RequestContext, "now" | "catchupWindowMs">,
  { pointer, hint, findings }: { readonly pointer: string; readonly hint: string; readonly findings: Findings },
): void {
  if (instant >= now - catchupWindowMs) return;
  const detail = `Lies more than ${formatDuration(catchupWindowMs)} in the past. ${hint}`;
  findings.add(pointer, "schedule_in_past", detail);
}

/** The fields of a request for a run that its task may have defaults for. */
export const TaskDefaults = object(
  "TaskDefaults",
  {
    queue: runFields.queue,
    priority: runFields.priority,
    ...policyFields,
    searchable: runFields.searchable,
  },
  {
    description: "The defaults of a task for fields that a request for a run or a job leaves out",
    examples: [{ queue: "email", timeout: "2m", retry: { max_attempts: 5 } }],
    allOf: policyRules.allOf,
  },
);
export type TaskDefaults = Static<typeof TaskDefaults>;

const defaultNames: ReadonlySet<string> = new Set(Object.keys(TaskDefaults.properties));

/** Returns the defaults that a worker registered for a task; null or undefined: none. */
export type DefaultsOf = (task: string) => TaskDefaults | null | undefined;

const origin = "a default of the task that its worker registered; send the field to override it";

/**
 * The request, with the defaults of its task for the fields that it leaves out. A field is taken whole: a caller who sends a retry policy
 * replaces the whole policy, as in the SDK. A fault in a default, or because of one, says where the default comes from.
 */
export function withDefaults<Given extends TaskDefaults>(
  given: Given,
  defaults: TaskDefaults | null | undefined,
  findings: Findings,
): Given {
  if (defaults === null || defaults === undefined) return given;
  const taken = Object.entries(defaults).filter(
    ([name]) => defaultNames.has(name) && !Object.hasOwn(given, name) && !hasNoEffect(name, given, defaults),
  );
  findings.explain(new Set(taken.map(([name]) => name)), origin);
  return { ...given, ...Object.fromEntries(taken) };
}

/** A default without effect: retries of a run that starts at most once, or what a failure does to an order where there is none. */
function hasNoEffect(name: string, given: TaskDefaults, defaults: TaskDefaults): boolean {
  if (name === "retry") return given.guarantee === "at_most_once";
  return name === "ordering_on_failure" && (given.ordering_key ?? defaults.ordering_key) === undefined;
}

/** Throws one CarillonError that names every fault, as a request with these fields would. Keys are checked without a payload. */
export function checkDefaults(defaults: TaskDefaults, refuse?: RefuseTarget): void {
  const findings = new Findings();
  const { ordering_on_failure: onFailure, ...rest } = defaults;
  runPolicy(rest, findings, refuse);
  const isOrdered = rest.ordering_key !== undefined && onFailure !== undefined;
  runLimits({ ...rest, ...(isOrdered && { ordering_on_failure: onFailure }) }, null, findings);
  findings.raise();
}
