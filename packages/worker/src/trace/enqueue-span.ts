import { type RunPolicy, withTrace } from "@carillon/core";
import { beginSpan, type SpanStart } from "./span.js";

interface Traceable {
  readonly task: string;
  readonly policy: RunPolicy;
  /** Of a job. Only one that runs once goes on in the trace of its making: one that runs for years is nobody's. */
  readonly schedule?: { readonly kind: string };
}

/** Stores runs that are asked for. Where the trace of whoever asks goes on is kept with each, if there is one. */
export async function enqueueTraced<Spec extends Traceable, Result>(
  parent: SpanStart["parent"],
  specs: readonly Spec[],
  store: (specs: readonly Spec[]) => Promise<Result>,
): Promise<Result> {
  const [first] = specs.filter(runsOnce);
  if (first === undefined) return store(specs);
  const span = beginSpan({ name: `enqueue ${first.task}`, kind: "producer", parent });
  const { traceparent, tracestate } = span;
  if (traceparent === undefined) return store(specs);
  if (span.isSeen) span.note({ "carillon.task": first.task, "carillon.runs": specs.length });
  const trace = { traceparent, ...(tracestate !== undefined && { tracestate }) };
  const placed = specs.map((spec) => (runsOnce(spec) ? { ...spec, policy: withTrace(spec.policy, trace) } : spec));
  try {
    return await span.run(() => store(placed));
  } finally {
    span.end();
  }
}

function runsOnce({ schedule }: Traceable): boolean {
  return schedule === undefined || schedule.kind === "at";
}
