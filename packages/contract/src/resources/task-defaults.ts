import { type Static } from "typebox";
import { Findings } from "../check/findings.js";
import type { RefuseTarget } from "./end-callback.js";
import { runLimits } from "./run-limits.js";
import { placedPolicies, policyFields, runFields, runPolicy } from "./run-policy.js";
import { object } from "../fields.js";

/** The fields of a request for a run that its task may have said already. */
export const TaskDefaults = object(
  "TaskDefaults",
  {
    queue: runFields.queue,
    priority: runFields.priority,
    ...policyFields,
    searchable: runFields.searchable,
  },
  {
    description: "What runs of a task are like where the request for a run or a job does not say it",
    examples: [{ queue: "email", timeout: "2m", retry: { max_attempts: 5 } }],
  },
);
export type TaskDefaults = Static<typeof TaskDefaults>;

/** Their names. */
const defaultNames: ReadonlySet<string> = new Set(Object.keys(TaskDefaults.properties));

/** What the workers of a task say about its runs; null or undefined: nothing. */
export type DefaultsOf = (task: string) => TaskDefaults | null | undefined;

type Request = TaskDefaults & { readonly [Spelling in "retries" | "retry_policy" | "callback_url"]?: unknown };

/** Other spellings of what a task may have said. */
const otherSpellings: Readonly<Record<string, readonly (keyof Request)[]>> = {
  retry: ["retries", "retry_policy"],
  callbacks: ["callback_url"],
};

const origin = "a default of the task, as its worker registered it; send the field to have it otherwise";

/**
 * The request with what its task says where it says nothing. A field is taken whole or not at all: who says how often to retry means
 * the whole policy, as in the SDK. What is wrong with a field that was taken, or by it, is said to come from there.
 */
export function withDefaults<Given extends Request>(
  given: Given,
  defaults: TaskDefaults | null | undefined,
  findings: Findings,
): Given {
  if (defaults === null || defaults === undefined) return given;
  const isSaid = (name: string): boolean =>
    [name, ...(otherSpellings[name] ?? [])].some((spelling) => Object.hasOwn(given, spelling));
  const taken = Object.entries(defaults).filter(
    ([name]) => defaultNames.has(name) && !isSaid(name) && !isVoid(name, given, defaults),
  );
  findings.explain(new Set(taken.map(([name]) => name)), origin);
  return { ...given, ...Object.fromEntries(taken) };
}

/** A run that is begun at most once has no retries; without a key there is no order that a failure could break. */
function isVoid(name: string, given: Request, defaults: TaskDefaults): boolean {
  if (name === "retry") return given.guarantee === "at_most_once";
  return name === "ordering_on_failure" && (given.ordering_key ?? defaults.ordering_key) === undefined;
}

/** Throws one CarillonError that names every fault, as a request with these fields would. Keys are looked at without a payload. */
export function checkDefaults(defaults: TaskDefaults, refuse?: RefuseTarget): void {
  const findings = new Findings();
  const { retry, callbacks, ordering_on_failure: onFailure, ...rest } = defaults;
  runPolicy(placedPolicies({ ...(retry && { retry }), ...(callbacks && { callbacks }) }), rest, findings, refuse);
  const isOrdered = rest.ordering_key !== undefined && onFailure !== undefined;
  runLimits({ ...rest, ...(isOrdered && { ordering_on_failure: onFailure }) }, null, findings);
  findings.raise();
}
